import { objectKey, type StorageService } from '@orch/core/contracts'
import { withCondition } from '@orch/core/meta'
import type { Names } from '@orch/core/names'
import { type BuiltIn, parseStored } from '@orch/core/schema'
import { messageOf } from '@orch/platform'
import { type EndpointSlice, readSlices, readyEndpoints } from '@orch/platform/webhooks'
import type { ApiServiceCondition, RemoteApi } from './api-service.ts'

/** The availability of an APIService for requests, with its reason. */
export type Verdict = Pick<ApiServiceCondition, 'status' | 'reason' | 'message'>

/** The dependencies of the evaluation. */
export interface JudgeParts {
  readonly storage: Pick<StorageService, 'get' | 'list'>
  readonly names: Names
  /** Services with configured addresses, which need not be stored. */
  readonly knownServices: ReadonlyMap<string, string>
  /** Requests the group version from the server; rejects with the reason without a valid answer. */
  readonly probe: (api: RemoteApi) => Promise<void>
}

/** Evaluates if the server of a group version is reachable: by its Service, its endpoints, and a request. */
export async function judge(api: RemoteApi, parts: JudgeParts): Promise<Verdict> {
  const { namespace, name } = api.service
  if (!parts.knownServices.has(`${namespace}/${name}`)) {
    const doubt = await judgeService(api, parts)
    if (doubt !== undefined) return doubt
  }
  try {
    await parts.probe(api)
  } catch (error) {
    return { status: 'False', reason: 'FailedDiscoveryCheck', message: messageOf(error) }
  }
  return { status: 'True', reason: 'Passed', message: 'all checks passed' }
}

async function judgeService({ service: place }: RemoteApi, parts: JudgeParts): Promise<Verdict | undefined> {
  const { namespace, name, port: number } = place
  const where = `service/${name} in ${JSON.stringify(namespace)}`
  const unknown = (reason: string, error: unknown): Verdict => ({
    status: 'Unknown',
    reason,
    message: `${where} cannot be checked due to: ${messageOf(error)}`,
  })
  let service: Service | undefined
  try {
    service = await readService(place, parts.storage)
  } catch (error) {
    return unknown('ServiceAccessError', error)
  }
  if (service === undefined) return { status: 'False', reason: 'ServiceNotFound', message: `${where} is not present` }
  // Ports and endpoints of other types cannot be evaluated here.
  if ((service.spec?.type ?? 'ClusterIP') !== 'ClusterIP') return undefined
  const port = service.spec?.ports?.find((one) => one.port === number)
  if (port === undefined) return { status: 'False', reason: 'ServicePortError', message: `${where} is not listening on port ${number}` }
  try {
    return judgeSlices(await readSlices(place, parts), port.name ?? '', where)
  } catch (error) {
    return unknown('EndpointsAccessError', error)
  }
}

function judgeSlices(slices: readonly EndpointSlice[], portName: string, where: string): Verdict | undefined {
  if (slices.length === 0) return { status: 'False', reason: 'EndpointsNotFound', message: `cannot find endpointslices for ${where}` }
  const hasPort = ({ ports }: EndpointSlice): boolean => ports?.some(({ name = '' }) => name === portName) === true
  if (slices.some((slice) => hasPort(slice) && readyEndpoints(slice).length > 0)) return undefined
  const message = `endpointslices for ${where} have no addresses with port name ${JSON.stringify(portName)}`
  return { status: 'False', reason: 'MissingEndpoints', message }
}

type Service = BuiltIn<'core/v1.Service'>

async function readService({ namespace, name }: RemoteApi['service'], storage: JudgeParts['storage']): Promise<Service | undefined> {
  const { entry } = await storage.get({ key: objectKey('core/services', namespace, name), read: { kind: 'latest' } })
  return entry === undefined ? undefined : parseStored('core/v1.Service', entry.value)
}

/** Conditions with a verdict; the time is that of the last change of the status. Returns the same list if nothing has to be written. */
export function withVerdict(
  conditions: readonly ApiServiceCondition[],
  { status, reason, message }: Verdict,
  now: string,
): readonly ApiServiceCondition[] {
  const known = conditions.find(({ type }) => type === 'Available')
  if (known !== undefined && known.status === status && known.reason === reason && known.message === message) return conditions
  return withCondition(conditions, {
    type: 'Available',
    status,
    lastTransitionTime: now,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  })
}
