import { objectKey } from '@orch/core/contracts'
import { type ApiObject, OutsideError, serviceUnavailable } from '@orch/core/meta'
import { type BuiltIn, requireType } from '@orch/core/schema'
import { portOfSlice, readSlices, readyEndpoints } from '@orch/platform/webhooks'
import type { GatewayRequest } from '../request/request.ts'
import type { Target } from '../target/target.ts'
import { type ConnectParts, type Pod, readLatest, splitName } from './connect.ts'

/** A Pod behind a Service, and its port. */
export type ServiceEndpoint = Awaited<ReturnType<typeof requireEndpoint>>

/** Addresses with a common port. */
interface EndpointGroup {
  readonly port: number
  readonly endpoints: readonly PodAddress[]
}

interface PodAddress {
  readonly ip: string
  readonly targetRef?: { readonly name?: string; readonly namespace?: string } | undefined
}

/** A Pod of the Service, by name or number of the port. Throws if the Service has none. */
export async function requireEndpoint(request: GatewayRequest, target: Target, object: ApiObject, parts: ConnectParts) {
  const { name, port } = splitName(target.info.name)
  const portName = /^\d+$/.test(port) ? portNameOf(requireType('core/v1.Service', object), Number(port)) : port
  if (portName === undefined) throw unavailable(`no service port ${port} found for service ${JSON.stringify(name)}`)
  for (const groupsOf of [inSlices, inEndpoints]) {
    for (const { port: found, endpoints } of rotated(await groupsOf({ name, portName }, request, target, parts), parts)) {
      for (const endpoint of rotated(endpoints, parts)) {
        const pod = await podAt(endpoint, request, target, parts)
        if (pod !== undefined) return { pod, address: endpoint.ip, port: found }
      }
    }
  }
  throw unavailable(`no endpoints available for service ${JSON.stringify(name)}`)
}

/** A Service of the namespace of the request, and a port of it. */
interface Wanted {
  readonly name: string
  readonly portName: string
}

type GroupsOf = (wanted: Wanted, request: GatewayRequest, target: Target, parts: ConnectParts) => Promise<readonly EndpointGroup[]>

const inSlices: GroupsOf = async ({ name, portName }, _, { info }, parts) => {
  const slices = await readSlices({ namespace: info.namespace, name }, parts)
  return slices.flatMap((slice) => {
    const port = portOfSlice(slice, portName)
    const endpoints = readyEndpoints(slice).map(({ addresses, targetRef }) => ({ ip: addresses?.[0] ?? '', targetRef }))
    return port === undefined ? [] : [{ port, endpoints }]
  })
}

/** A client may have written Endpoints that no controller mirrors to slices. */
const inEndpoints: GroupsOf = async ({ name, portName }, request, target, parts) => {
  const object = await read({ plural: 'endpoints', name }, request, target, parts)
  const subsets = object === undefined ? [] : (requireType('core/v1.Endpoints', object).subsets ?? [])
  return subsets.flatMap(({ ports = [], addresses = [] }) => {
    const port = ports.find((one) => (one.name ?? '') === portName)?.port
    return port === undefined ? [] : [{ port, endpoints: addresses }]
  })
}

/** Undefined if the Service has no such port. */
function portNameOf({ spec: { ports = [] } }: BuiltIn<'core/v1.Service'>, port: number): string | undefined {
  const found = ports.find((one) => one.port === port)
  return found === undefined ? undefined : (found.name ?? '')
}

/** The list rotated to a drawn position. */
function rotated<T>(list: readonly T[], { draws }: ConnectParts): readonly T[] {
  const start = list.length > 1 ? draws.endpoint(list.length) : 0
  return [...list.slice(start), ...list.slice(0, start)]
}

/** The Pod of an address. Undefined if no Pod of this namespace has it. */
async function podAt(
  { ip, targetRef }: PodAddress,
  request: GatewayRequest,
  target: Target,
  parts: ConnectParts,
): Promise<Pod | undefined> {
  if (targetRef?.name === undefined || targetRef.namespace !== target.info.namespace) return undefined
  const object = await read({ plural: 'pods', name: targetRef.name }, request, target, parts)
  const pod = object && requireType('core/v1.Pod', object)
  return pod?.status.podIPs?.some((one) => one.ip === ip) === true ? pod : undefined
}

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
