import { objectKey } from '@orch/core/contracts'
import { type ApiObject, OutsideError, serviceUnavailable } from '@orch/core/meta'
import { type BuiltIn, requireType } from '@orch/core/schema'
import type { GatewayRequest } from '../request/request.ts'
import type { Target } from '../target/target.ts'
import { type ConnectParts, type Pod, readLatest, splitName } from './connect.ts'

/** A Pod behind a Service, and its port. */
export interface ServiceEndpoint {
  readonly pod: Pod
  readonly address: string
  readonly port: number
}

type Subset = NonNullable<BuiltIn<'core/v1.Endpoints'>['subsets']>[number]

/** A Pod that the Service leads to, by the name or the number of its port. Throws where there is none. */
export async function requireEndpoint(
  request: GatewayRequest,
  target: Target,
  object: ApiObject,
  parts: ConnectParts,
): Promise<ServiceEndpoint> {
  const { name, port } = splitName(target.info.name)
  const portName = /^\d+$/.test(port) ? portNameOf(requireType('core/v1.Service', object), Number(port)) : port
  if (portName === undefined) throw unavailable(`no service port ${port} found for service ${JSON.stringify(name)}`)
  const endpoints = await read({ plural: 'endpoints', name }, request, target, parts)
  const subsets = endpoints === undefined ? [] : (requireType('core/v1.Endpoints', endpoints).subsets ?? [])
  for (const { ports = [], addresses = [] } of rotated(subsets, parts)) {
    const found = ports.find((one) => (one.name ?? '') === portName)
    if (found === undefined) continue
    for (const address of rotated(addresses, parts)) {
      const pod = await podAt(address, request, target, parts)
      if (pod !== undefined) return { pod, address: address.ip, port: found.port }
    }
  }
  throw unavailable(`no endpoints available for service ${JSON.stringify(name)}`)
}

/** Undefined: the Service has no such port. */
function portNameOf({ spec: { ports = [] } }: BuiltIn<'core/v1.Service'>, port: number): string | undefined {
  const found = ports.find((one) => one.port === port)
  return found === undefined ? undefined : (found.name ?? '')
}

/** The list from a place on that is drawn. */
function rotated<T>(list: readonly T[], { draws }: ConnectParts): readonly T[] {
  const start = list.length > 1 ? draws.endpoint(list.length) : 0
  return [...list.slice(start), ...list.slice(0, start)]
}

/** The Pod of an address. Undefined: it is none of this namespace that has the address. */
async function podAt(
  { ip, targetRef }: NonNullable<Subset['addresses']>[number],
  request: GatewayRequest,
  target: Target,
  parts: ConnectParts,
): Promise<Pod | undefined> {
  if (targetRef?.name === undefined || targetRef.namespace !== target.info.namespace) return undefined
  const object = await read({ plural: 'pods', name: targetRef.name }, request, target, parts)
  const pod = object && requireType('core/v1.Pod', object)
  return pod?.status.podIPs?.some((one) => one.ip === ip) === true ? pod : undefined
}

/** An object of the Service's namespace. */
async function read(
  { plural, name }: { readonly plural: string; readonly name: string },
  request: GatewayRequest,
  { info }: Target,
  parts: ConnectParts,
): Promise<ApiObject | undefined> {
  const served = parts.served.find('', 'v1', plural)
  if (served === undefined) return undefined
  return (await readLatest(objectKey(served.resource.stored.prefix, info.namespace, name), served, request, parts))?.object
}

function unavailable(message: string): OutsideError {
  return new OutsideError(serviceUnavailable(message).status)
}
