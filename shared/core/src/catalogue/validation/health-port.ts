import { type Part, textOf } from './part.ts'

/** Whether balancers ask each node, on a port of its own, for the health of the Pods there. */
export function hasHealthPort(spec: Part | undefined): boolean {
  return textOf(spec, 'type') === 'LoadBalancer' && textOf(spec, 'externalTrafficPolicy') === 'Local'
}
