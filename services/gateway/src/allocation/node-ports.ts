import { hasHealthPort } from '@orch/core/catalogue'
import type { PortRange } from '@orch/platform'
import { type Claim, refused, type Subject } from './claim.ts'
import { portPrefix, type ServicePort, type ServiceSpec } from './reserved-keys.ts'

/** A Service whose node ports are claimed; they are written into `spec`. */
export interface PortClaim {
  /** The ports that all nodes keep for Services. The first ones are for Services that request a specific one, as long as others are free. */
  readonly range: PortRange & { readonly staticSize: number }
  readonly spec: { -readonly [K in keyof ServiceSpec]: ServiceSpec[K] }
  readonly before: ServiceSpec
  readonly isNew: boolean
  readonly subject: Subject
}

/**
 * Claims the required node ports, and a health check node port if load balancers need one. Requested ports come first, so that no automatic port takes
 * one of them.
 */
export async function claimPorts(claim: Claim, asked: PortClaim): Promise<void> {
  const { spec } = asked
  const ports = hasNodePorts(spec) ? withSharedPorts(asked, withFormerPorts(asked)) : (spec.ports ?? []).map(withoutZero)
  const healthPort = hasHealthPort(spec) ? wantedHealthPort(asked) : undefined
  for (const [index, { nodePort }] of ports.entries()) {
    const field = `spec.ports[${index}].nodePort`
    if (!nodePort) continue
    if (nodePort === healthPort && nodePort === asked.before.healthCheckNodePort) throw refused(asked.subject, field, taken(nodePort))
    await claimPort(claim, nodePort, field, asked)
  }
  if (healthPort) await claimHealthPort(claim, asked, healthPort, ports)
  if (spec.ports !== undefined) spec.ports = hasNodePorts(spec) ? await fillPorts(claim, asked, ports) : ports
  if (healthPort === undefined) delete spec.healthCheckNodePort
  else spec.healthCheckNodePort = healthPort || (await claimFreePort(claim, asked.range))
}

function hasNodePorts({ type }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer'
}

/** The first level at which a load balancer that allocates no node ports also keeps none. */
const portsReleasedSince = 30

/** True if an update keeps node ports that its writer leaves out. */
function keepsNodePorts(spec: ServiceSpec, level: number): boolean {
  const allocatesNone = spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === false
  return hasNodePorts(spec) && !(allocatesNone && level >= portsReleasedSince)
}

function withoutZero(port: ServicePort): ServicePort {
  if (port.nodePort) return port
  const { nodePort: _nodePort, ...rest } = port
  return rest
}

/** 0 for any port. */
function wantedHealthPort({ spec, before }: PortClaim): number {
  return spec.healthCheckNodePort || (hasHealthPort(before) && before.healthCheckNodePort) || 0
}

async function fillPorts(claim: Claim, { range, spec, isNew }: PortClaim, ports: readonly ServicePort[]): Promise<ServicePort[]> {
  if (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === false) {
    return ports.map(withoutZero)
  }
  const given: ServicePort[] = []
  for (const port of ports) {
    const shared = isNew ? given.find((other) => other.port === port.port)?.nodePort : undefined
    given.push(port.nodePort ? port : { ...port, nodePort: shared ?? (await claimFreePort(claim, range)) })
  }
  return given
}

/** A new Service that serves one port over two protocols uses one node port. */
function withSharedPorts({ isNew }: PortClaim, ports: readonly ServicePort[]): readonly ServicePort[] {
  if (!isNew) return ports
  return ports.map((port) => {
    const nodePort = port.nodePort || ports.find((other) => other.port === port.port && other.nodePort)?.nodePort
    return nodePort ? { ...port, nodePort } : port
  })
}

/** Completes an update from the previous object: ports are matched by name. */
function withFormerPorts({ spec, before, subject: { level } }: PortClaim): ServicePort[] {
  const ports = spec.ports ?? []
  if (!keepsNodePorts(before, level) || !keepsNodePorts(spec, level)) return [...ports]
  const former = new Map(before.ports?.map(({ name, nodePort }) => [name ?? '', nodePort]))
  const used = new Set(ports.map(({ nodePort }) => nodePort))
  return ports.map((port) => {
    const nodePort = port.nodePort ? undefined : former.get(port.name ?? '')
    if (!nodePort || used.has(nodePort)) return port
    used.add(nodePort)
    return { ...port, nodePort }
  })
}

async function claimHealthPort(claim: Claim, asked: PortClaim, wanted: number, ports: readonly ServicePort[]): Promise<void> {
  const field = 'spec.healthCheckNodePort'
  if (ports.some(({ nodePort }) => nodePort === wanted)) throw refused(asked.subject, field, taken(wanted))
  await claimPort(claim, wanted, field, asked)
}

async function claimFreePort(claim: Claim, { first, last, staticSize }: PortClaim['range']): Promise<number> {
  const pool = { prefix: portPrefix, nameAt: (index: number) => String(first + index), size: last - first + 1, staticSize }
  return Number(await claim.anyOf([pool]))
}

async function claimPort(claim: Claim, wanted: number, field: string, { range: { first, last }, subject }: PortClaim): Promise<void> {
  if (claim.holds(portPrefix, String(wanted))) return
  if (wanted < first || wanted > last) {
    const message = `provided port is not in the valid range. The range of valid ports is ${first}-${last}`
    throw refused(subject, field, `Invalid value: ${wanted}: ${message}`)
  }
  if ((await claim.one(portPrefix, String(wanted))) === 'taken') throw refused(subject, field, taken(wanted))
}

function taken(port: number): string {
  return `Invalid value: ${port}: provided port is already allocated`
}
