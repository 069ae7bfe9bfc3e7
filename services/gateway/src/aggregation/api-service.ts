import type { ApiObject } from '@orch/core/meta'
import type { BuiltIn } from '@orch/core/schema'
import type { ServicePlace } from '@orch/platform/webhooks'

/** One aspect of an APIService's state. */
export type ApiServiceCondition = Pick<StoredCondition, 'type' | 'status'> & Partial<StoredCondition>
type StoredCondition = BuiltIn<'apiregistration/v1.APIServiceCondition'>

interface StoredParts {
  readonly spec?: Partial<BuiltIn<'apiregistration/v1.APIServiceSpec'>>
  readonly status?: { readonly conditions?: readonly ApiServiceCondition[] | null }
}

/** The relevant part of a stored APIService. */
export type ApiService = Readonly<ReturnType<typeof readApiService>>

/** An APIService of a remote server. */
export interface RemoteApi extends ApiService {
  readonly service: ServicePlace
}

const defaultPort = 443

/** Parses an APIService, stored or new. */
export function readApiService({ metadata, ...rest }: ApiObject) {
  const { spec = {}, status = {} } = rest as StoredParts
  const { service, caBundle } = spec
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    group: spec.group ?? '',
    version: spec.version ?? '',
    /** Undefined for this server. */
    service: service ? { namespace: service.namespace ?? '', name: service.name ?? '', port: service.port ?? defaultPort } : undefined,
    /** The CA bundle for the service's certificate, PEM; by default the authorities of the system. */
    authorities: caBundle ? Buffer.from(caBundle, 'base64').toString() : undefined,
    skipsVerification: spec.insecureSkipTLSVerify === true,
    groupPriority: spec.groupPriorityMinimum ?? 0,
    versionPriority: spec.versionPriority ?? 0,
    labels: metadata.labels ?? {},
    conditions: service ? (status.conditions ?? []) : ofLocal(status.conditions ?? []),
  }
}

/** The condition of a group version that this server serves. */
export const localVerdict = { status: 'True', reason: 'Local', message: 'Local APIServices are always available' } as const

const localConditions: readonly ApiServiceCondition[] = [{ type: 'Available', ...localVerdict }]

/** One shared value for all local group versions, as there may be thousands. Their transition times are not stored. */
function ofLocal(conditions: readonly ApiServiceCondition[]): readonly ApiServiceCondition[] {
  const [only, ...others] = conditions
  const isUsual = only?.type === 'Available' && only.status === localVerdict.status && only.reason === localVerdict.reason
  return others.length === 0 && isUsual && only.message === localVerdict.message ? localConditions : conditions
}

/** True if an APIService of this server has only the condition Available. */
export function isAsLocal({ service, conditions }: ApiService): boolean {
  return service === undefined && conditions === localConditions
}

/** True if a remote server serves the group version. */
export function isRemote(api: ApiService): api is RemoteApi {
  return api.service !== undefined
}

/** True if requests are forwarded to the service. */
export function isAvailable({ conditions }: ApiService): boolean {
  return conditions.some(({ type, status }) => type === 'Available' && status === 'True')
}

/** The path of a group version: `/apis/<group>/<version>`, or `/api/v1`. */
export function rootOf({ group, version }: Pick<ApiService, 'group' | 'version'>): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`
}
