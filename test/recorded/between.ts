import type { RecordedRequest } from './cases.ts'

const deployment = '/apis/apps/v1/namespaces/NS/deployments/d'
const service = '/api/v1/namespaces/NS/services/svc'
const pod = '/api/v1/namespaces/NS/pods/pod'

const strategic = (path: string, body: object): RecordedRequest => patch(path, 'application/strategic-merge-patch+json', body)
const merge = (path: string, body: object): RecordedRequest => patch(path, 'application/merge-patch+json', body)
const containers = (...list: object[]): object => ({ spec: { template: { spec: { containers: list } } } })

function patch(path: string, contentType: string, body: object): RecordedRequest {
  return { method: 'PATCH', path, contentType, body }
}

/** Requests that produce the state of a recorded answer where the recording lacks these requests: case name → requests. */
export const requestsBetween: Readonly<Record<string, readonly RecordedRequest[]>> = {
  'patch dep change image': [strategic(deployment, containers({ name: 'side', image: 'x' }))],
  'patch dep containers order': [
    strategic(deployment, containers({ name: 'c', '$setElementOrder/env': [{ name: 'POD' }, { name: 'B' }] })),
  ],
  'patch dep null': [
    strategic(deployment, { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }),
    strategic(deployment, { metadata: { labels: { $patch: 'replace', only: 'x' } } }),
  ],
  'patch dep selector immutable': [strategic(deployment, containers({ $patch: 'replace' }, { name: 'z', image: 'z' }))],
  'patch merge kind': [
    {
      method: 'PATCH',
      path: deployment,
      contentType: 'application/json-patch+json',
      body: [
        { op: 'add', path: '/spec/minReadySeconds', value: 3 },
        { op: 'add', path: '/metadata/labels/x~1y', value: 'v' },
      ],
    },
  ],
  'patch cm finalizers again': [strategic('/api/v1/namespaces/NS/configmaps/cm', { metadata: { finalizers: ['x.example.com/f'] } })],
  'patch svc status': [
    strategic(service, {
      spec: {
        type: 'NodePort',
        ports: [
          { port: 80, name: 'renamed', nodePort: 30080 },
          { port: 53, nodePort: 30053 },
        ],
      },
    }),
    {
      method: 'PATCH',
      path: service,
      contentType: 'application/json-patch+json',
      body: [{ op: 'add', path: '/spec/ports/-', value: { port: 81, name: 'more', nodePort: 30081 } }],
    },
    merge(service, { spec: { type: 'ExternalName', externalName: 'x.example.com' } }),
  ],
  'patch pod deadline up': [
    strategic(pod, { spec: { containers: [{ name: 'c', image: 'other' }], activeDeadlineSeconds: 50 } }),
    {
      method: 'PATCH',
      path: pod,
      contentType: 'application/json-patch+json',
      body: [
        { op: 'replace', path: '/spec/tolerations/0/tolerationSeconds', value: 3 },
        { op: 'add', path: '/spec/tolerations/1', value: { key: 'new', operator: 'Exists' } },
      ],
    },
  ],
  'misc pod binding again': [
    {
      method: 'POST',
      path: `${pod}/binding`,
      body: { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'pod' }, target: { kind: 'Node', name: 'n1' } },
    },
  ],
  'misc delete': [
    {
      method: 'POST',
      path: '/api/v1/namespaces/NS/configmaps',
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'another' } },
    },
  ],
  'delete Job job': [merge('/apis/batch/v1/namespaces/NS/jobs/job', { spec: { suspend: false } })],
  'delete Pod pod': [{ method: 'DELETE', path: `${pod}?gracePeriodSeconds=40` }],
}
