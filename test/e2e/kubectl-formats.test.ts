import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { aKubectl, describeKubectls, sharedServer } from './kubectl.ts'

const server = sharedServer()

/** The kinds without a generator (`kubectl create KIND`). */
const manifest = `
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {node-role.kubernetes.io/worker: ""}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: claim, namespace: walk}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, storageClassName: fast}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: volume}
spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x}, storageClassName: fast}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: example.com/disk
---
apiVersion: v1
kind: Event
metadata: {name: event, namespace: walk}
involvedObject: {kind: Pod, namespace: walk, name: pod}
reason: Started
message: it started
type: Normal
count: 2
firstTimestamp: "2026-01-01T00:00:00Z"
lastTimestamp: "2026-01-01T00:01:00Z"
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: scaler, namespace: walk}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, maxReplicas: 3}
`

/** Generators (`kubectl create KIND`) send Protobuf since 1.32. */
const generated: readonly string[] = [
  'configmap map --from-literal=x=1',
  'secret generic hidden --from-literal=p=1',
  'role reader --verb=get --resource=pods',
  'rolebinding readers --role=reader --user=jane',
  'clusterrole viewer --verb=get --resource=nodes',
  'deployment web --image=nginx --replicas=2',
  'service clusterip web --tcp=80:80',
  'job once --image=x',
  'cronjob often --image=x --schedule=*/5_*_*_*_*',
  'quota limits --hard=pods=3',
  'serviceaccount robot',
  'ingress door --rule=a.example.com/x=web:80',
  'priorityclass high --value=10',
  'poddisruptionbudget budget --selector=a=b --min-available=1',
]

/** The heading and the first row of each table; two spaces separate columns, and the ages are removed. */
const tables: readonly [kind: string, heading: string, row: string][] = [
  ['configmap/map', 'NAME|DATA|AGE', 'map|1'],
  ['secret', 'NAME|TYPE|DATA|AGE', 'hidden|Opaque|1'],
  ['namespace/walk', 'NAME|STATUS|AGE', 'walk|Active'],
  ['role', 'NAME|CREATED AT', 'reader'],
  ['rolebinding', 'NAME|ROLE|AGE', 'readers|Role/reader'],
  ['clusterrole/viewer', 'NAME|CREATED AT', 'viewer'],
  ['pod', 'NAME|READY|STATUS|RESTARTS|AGE', 'pod|0/1|Pending|0'],
  ['deployment', 'NAME|READY|UP-TO-DATE|AVAILABLE|AGE', 'web|0/2|0|0'],
  ['service', 'NAME|TYPE|CLUSTER-IP|EXTERNAL-IP|PORT(S)|AGE', 'web|ClusterIP'],
  ['job', 'NAME|STATUS|COMPLETIONS|DURATION|AGE', 'once|Running|0/1'],
  ['cronjob', 'NAME|SCHEDULE|TIMEZONE|SUSPEND|ACTIVE|LAST SCHEDULE|AGE', 'often|*/5 * * * *|<none>|False|0|<none>'],
  ['quota', 'NAME|REQUEST|LIMIT|AGE', 'limits'],
  ['serviceaccount', 'NAME|AGE', 'robot'],
  ['ingress', 'NAME|CLASS|HOSTS|ADDRESS|PORTS|AGE', 'door|<none>|a.example.com'],
  ['priorityclass/high', 'NAME|VALUE|GLOBAL-DEFAULT|AGE|PREEMPTIONPOLICY', 'high|10|false'],
  ['poddisruptionbudget', 'NAME|MIN AVAILABLE|MAX UNAVAILABLE|ALLOWED DISRUPTIONS|AGE', 'budget|1|N/A|0'],
  ['node', 'NAME|STATUS|ROLES|AGE|VERSION', 'n1|Unknown|worker'],
  ['pvc', 'NAME|STATUS|VOLUME|CAPACITY|ACCESS MODES|STORAGECLASS|VOLUMEATTRIBUTESCLASS|AGE', 'claim|Pending'],
  [
    'pv',
    'NAME|CAPACITY|ACCESS MODES|RECLAIM POLICY|STATUS|CLAIM|STORAGECLASS|VOLUMEATTRIBUTESCLASS|REASON|AGE',
    'volume|1Gi|RWO|Retain|Pending',
  ],
  [
    'storageclass',
    'NAME|PROVISIONER|RECLAIMPOLICY|VOLUMEBINDINGMODE|ALLOWVOLUMEEXPANSION|AGE',
    'fast|example.com/disk|Delete|Immediate|false',
  ],
  ['hpa', 'NAME|REFERENCE|TARGETS|MINPODS|MAXPODS|REPLICAS|AGE', 'scaler|Deployment/web|cpu: <unknown>/80%|1|3|0'],
]

const cellsOf = (line = '') =>
  line
    .trim()
    .split(/\s{2,}/)
    .join('|')

async function walkThrough(kubectl: (...args: string[]) => Promise<string>, withFile: (verb: 'create', text: string) => Promise<string>) {
  expect(await kubectl('create', 'namespace', 'walk')).toBe('namespace/walk created\n')
  for (const words of generated) {
    const args = words.split(' ').map((word) => word.replaceAll('_', ' '))
    expect(await kubectl('-n', 'walk', 'create', ...args)).toContain('created')
  }
  expect(await kubectl('-n', 'walk', 'run', 'pod', '--image=nginx')).toContain('created')
  expect(await withFile('create', manifest)).toContain('scaler created')
}

describeKubectls('%s', { timeout: 180_000 }, (binary) => {
  test('NEG-04, NEG-06: uses generators, permission checks, tables and descriptions', async () => {
    const { kubectl, withFile } = await aKubectl(binary, server)
    await walkThrough(kubectl, withFile)
    expect(await kubectl('auth', 'can-i', 'create', 'pods')).toBe('yes\n')
    for (const [kind, heading, row] of tables) {
      const [first, ...others] = (await kubectl('-n', 'walk', 'get', kind)).split('\n')
      expect(cellsOf(first)).toBe(heading)
      expect(others.map((line) => `${cellsOf(line)}|`).join('\n')).toContain(`${row}|`)
    }
    expect(cellsOf((await kubectl('-n', 'walk', 'get', 'events')).split('\n')[0])).toBe('LAST SEEN|TYPE|REASON|OBJECT|MESSAGE')
    expect(cellsOf((await kubectl('-n', 'walk', 'get', 'pods', '-o', 'wide')).split('\n')[0])).toBe(
      'NAME|READY|STATUS|RESTARTS|AGE|IP|NODE|NOMINATED NODE|READINESS GATES',
    )
    expect(await kubectl('-n', 'walk', 'get', 'pods', '--sort-by=.metadata.name', '--show-labels')).toContain('run=pod')
    expect(await kubectl('-n', 'walk', 'describe', 'deployment', 'web')).toContain('2 desired')
    expect(await kubectl('-n', 'walk', 'describe', 'service', 'web')).toMatch(/Selector:\s+app=web/)
    expect(await kubectl('-n', 'walk', 'describe', 'configmap', 'map')).toContain('x:')
  })

  test('NEG-06: prints a watch as a growing table', async () => {
    const { kubectl, env } = await aKubectl(binary, server)
    await kubectl('create', 'configmap', 'first')
    const child = spawn(binary, ['get', 'configmaps', '-w'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill())
    const lines: string[] = []
    for await (const line of createInterface(child.stdout)) {
      // The server creates this object shortly after the namespace.
      if (line.startsWith('kube-root-ca.crt')) continue
      lines.push(cellsOf(line.replace(/\d+s$/, 'age')))
      if (lines.length === 2) await kubectl('create', 'configmap', 'second', '--from-literal=a=b')
      if (lines.length === 3) break
    }
    expect(lines).toEqual(['NAME|DATA|AGE', 'first|0|age', 'second|1|age'])
  })
})
