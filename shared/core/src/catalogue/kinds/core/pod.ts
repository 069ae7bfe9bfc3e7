import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { common, memberOf, same, textOf, textsAt } from '../../../kind/selectable-fields.ts'
import { countPods } from '../../../quota/measures.ts'
import { podCells, podConditions } from '../../../table/cells/pod.ts'
import { wide } from '../../../table/kind-table.ts'
import { fillPod } from '../../defaults/pod.ts'
import { validatePod } from '../../validation/pod/pod.ts'
import { validateAddedContainers, validateResize } from '../../validation/pod/pod-parts.ts'
import { validatePodStatus } from '../../validation/pod/pod-status.ts'
import { warningsOfNewPod, warningsOfPodStatus } from '../../warnings/rules.ts'

const specTexts = textsAt('spec', ['nodeName', 'restartPolicy', 'schedulerName', 'serviceAccountName'])
const statusTexts = textsAt('status', ['nominatedNodeName', 'phase'])

/** Containers that run together on one node and share its network address. */
export const pod = defineResource('core.Pod', {
  shortNames: ['po'],
  categories: ['all'],
  scope: 'Namespaced',
  rechecksName: true,
  subresources: [
    {
      name: 'attach',
      type: 'core/v1.PodAttachOptions',
      verbs: ['create', 'get'],
      optionsType: 'core/v1.PodAttachOptions',
      connect: ['GET', 'POST'],
    },
    { name: 'binding', type: 'core/v1.Binding', verbs: ['create'] },
    { name: 'ephemeralcontainers', verbs: ['get', 'patch', 'update'] },
    { name: 'eviction', type: 'policy/v1.Eviction', verbs: ['create'] },
    {
      name: 'exec',
      type: 'core/v1.PodExecOptions',
      verbs: ['create', 'get'],
      optionsType: 'core/v1.PodExecOptions',
      connect: ['GET', 'POST'],
    },
    { name: 'log', verbs: ['get'], optionsType: 'core/v1.PodLogOptions', produces: 'text/plain' },
    {
      name: 'portforward',
      type: 'core/v1.PodPortForwardOptions',
      verbs: ['create', 'get'],
      optionsType: 'core/v1.PodPortForwardOptions',
      connect: ['GET', 'POST'],
    },
    {
      name: 'proxy',
      type: 'core/v1.PodProxyOptions',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
      optionsType: 'core/v1.PodProxyOptions',
      connect: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
      reaches: 'pod',
      hasSubpath: true,
    },
    { name: 'resize', verbs: ['get', 'patch', 'update'], since: 33 },
    statusSubresource,
  ],
  changes: { 33: { countsGenerations: true } },
  quota: countPods,
  deleteAnswer: 'object',
  statusKeeps: ['ownerReferences', 'deletionTimestamp'],
  selectable: {
    labels: {
      ...common,
      ...same('spec.hostNetwork', 'spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName'),
      ...same('status.phase', 'status.podIP', 'status.podIPs', 'status.nominatedNodeName'),
      'spec.host': 'spec.nodeName',
    },
    labelsSince: { 'spec.hostNetwork': 28 },
    fieldsOf(pod) {
      const texts = specTexts(pod, { 'spec.hostNetwork': String(memberOf(pod['spec'], 'hostNetwork') === true) })
      statusTexts(pod, texts)
      texts['status.podIP'] = firstPodIp(pod)
      return texts
    },
  },
  defaults: (object, names, _isGateOn, level) => fillPod(object, names, level),
  validation: {
    main: validatePod,
    status: validatePodStatus,
    parts: { ephemeralcontainers: validateAddedContainers, resize: validateResize },
  },
  warnings: warningsOfNewPod,
  statusWarnings: warningsOfPodStatus,
  table: {
    cells: podCells,
    conditions: podConditions,
    columns: [
      'Name',
      { name: 'Ready', description: 'Number of ready containers, of all containers of the pod.' },
      { name: 'Status', description: 'State of the whole pod, with the reason of the first container that delays it.' },
      'Restarts',
      'Age',
      ...wide('IP', 'Node', 'Nominated Node', 'Readiness Gates'),
    ],
  },
})

function firstPodIp(pod: Readonly<Record<string, unknown>>): string {
  const addresses = memberOf(pod['status'], 'podIPs')
  return Array.isArray(addresses) ? textOf(memberOf(addresses[0], 'ip')) : ''
}
