import type { Attack, Heavy } from './requests.ts'

const containers = (count: number, rest: object = {}) =>
  Array.from({ length: count }, (_, index) => ({ name: `c${index}`, image: 'registry.example/app:1', ...rest }))

function aPod(name: string, spec: object, annotations: Readonly<Record<string, string>> = {}): Heavy {
  const metadata = { name, annotations }
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { nodeName: 'node-1', ...spec } })
  return { method: 'POST', path: '/api/v1/namespaces/default/pods', body }
}

const probe = { exec: { command: ['ready'] }, periodSeconds: 1 }

/** Pods that give a simulated node much work. */
export const nodeAttacks: readonly Attack[] = [
  { name: 'a Pod with 1,000 containers on a node', isOnNode: true, request: () => aPod('main', { containers: containers(1000) }) },
  {
    name: 'a Pod with 1,000 containers on a node that initialize',
    isOnNode: true,
    request: () => aPod('init', { initContainers: containers(1000), containers: [{ name: 'main', image: 'registry.example/app:1' }] }),
  },
  {
    name: 'a Pod with 1,000 containers on a node that fail at once',
    isOnNode: true,
    request: () =>
      aPod('fails', { containers: containers(1000) }, { 'simulation.orch.io/run-for': '0s', 'simulation.orch.io/exit-code': '1' }),
  },
  {
    name: 'a Pod with 1,000 containers on a node whose probes fail',
    isOnNode: true,
    request: () =>
      aPod('unready', { containers: containers(1000, { readinessProbe: probe }) }, { 'simulation.orch.io/readiness': '0s:fail' }),
  },
]
