import { objectKey, type StorageService, type User } from '@orch/core/contracts'
import { readOurObject } from '@orch/core/events'
import { memberIn } from '@orch/core/json'
import type { ApiObject, FieldError } from '@orch/core/meta'
import { type Names, subdomainLabel } from '@orch/core/names'
import { type BuiltIn, isOfType } from '@orch/core/schema'
import { isSame } from '@orch/core/validation'
import type { Surroundings } from '../surroundings.ts'
import { type Authorizer, decide, type ResourceInfoAccess, refusal } from './authorizer.ts'

/** The dependencies of checking claims for devices. */
export interface DeviceParts extends Pick<Surroundings, 'names' | 'isGateOn'> {
  readonly authorizers: readonly Authorizer[]
  readonly storage: Pick<StorageService, 'get'>
}

/** A write of a device claim, or of a template. */
export interface DeviceWrite {
  readonly user: User
  readonly access: ResourceInfoAccess
  readonly object: ApiObject
  /** Undefined for a create. */
  readonly live: ApiObject | undefined
}
type Status = NonNullable<BuiltIn<'resource/v1.ResourceClaim'>['status']>

/**
 * The errors of a writer without the additional rights for a claim: admin access needs a label of the namespace, an allocation and the users of a claim
 * need another right, and the status of a device needs a right for its driver.
 */
export async function refusedDevices(write: DeviceWrite, parts: DeviceParts): Promise<readonly FieldError[]> {
  if (write.access.subresource === '') return refuseAdminRequests(write, parts)
  const [status, before] = [statusOf(write.object), statusOf(write.live)]
  const errors = [...(await refuseAdminResults(write, status, before, parts))]
  if (!parts.isGateOn('DRAResourceClaimGranularStatusAuthorization')) return errors
  errors.push(...(await refuseBinding(write, status, before, parts)))
  if (status.allocation != null) errors.push(...(await refuseDeviceStatus(write, status, before, parts)))
  return errors
}

/** The status is equal in each version. */
function statusOf(claim: ApiObject | undefined): Status {
  for (const type of ['resource/v1.ResourceClaim', 'resource/v1beta2.ResourceClaim', 'resource/v1beta1.ResourceClaim'] as const)
    if (isOfType(type, claim)) return claim.status ?? {}
  return {}
}

/** A spec is immutable, so it is checked at the create. */
async function refuseAdminRequests({ object, live }: DeviceWrite, parts: DeviceParts): Promise<readonly FieldError[]> {
  if (live !== undefined) return []
  const index = requestsOf(object).findIndex((request) => asksForAdmin(request) || asksForAdmin(memberIn(request, 'exactly')))
  return index < 0 ? [] : refuseAdmin(object, `spec.devices.requests[${index}].adminAccess`, parts)
}

/** The requests of a claim or a template. */
function requestsOf(object: ApiObject): readonly unknown[] {
  const spec = object.kind === 'ResourceClaimTemplate' ? memberIn(object['spec'], 'spec') : object['spec']
  const requests = memberIn(memberIn(spec, 'devices'), 'requests')
  return Array.isArray(requests) ? requests : []
}

/** Requests of v1beta1 are flat. */
function asksForAdmin(request: unknown): boolean {
  return memberIn(request, 'adminAccess') === true
}

async function refuseAdminResults({ object }: DeviceWrite, status: Status, before: Status, parts: DeviceParts) {
  const indexOf = ({ allocation }: Status) => (allocation?.devices?.results ?? []).findIndex(({ adminAccess }) => adminAccess === true)
  const index = indexOf(status)
  return index < 0 || indexOf(before) >= 0 ? [] : refuseAdmin(object, `status.allocation.devices.results[${index}].adminAccess`, parts)
}

async function refuseAdmin(object: ApiObject, field: string, { storage, names }: DeviceParts): Promise<readonly FieldError[]> {
  const key = objectKey('core/namespaces', undefined, object.metadata.namespace ?? '')
  const { entry } = await storage.get({ key, read: { kind: 'latest' } })
  const label = subdomainLabel(names, 'resource', 'admin-access')
  if (entry !== undefined && readOurObject(entry.value).metadata.labels?.[label] === 'true') return []
  return [forbidden(field, `admin access to devices requires the \`${label}: true\` label on the containing namespace`)]
}

function forbidden(field: string, why: string): FieldError {
  return { field, reason: 'FieldValueForbidden', message: `Forbidden: ${why}` }
}

async function refuseBinding({ user, access }: DeviceWrite, status: Status, before: Status, { authorizers }: DeviceParts) {
  if (isSame(status.allocation, before.allocation) && isSame(status.reservedFor, before.reservedFor)) return []
  const asked = { ...access, subresource: 'binding', namespace: '', name: '' }
  const why = await whyNot(asked, user, authorizers)
  const what = `changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="${access.verb}" permission`
  return why === undefined ? [] : [forbidden('status.allocation', `${what}: ${why}`)]
}

/** A driver on the node of the devices may have the right for its node only. */
async function refuseDeviceStatus({ user, access }: DeviceWrite, status: Status, before: Status, parts: DeviceParts) {
  const isNear = isOnNode(user, nodeOf(status), parts.names)
  const verbs = [...(isNear ? ['associated-node:'] : []), 'arbitrary-node:'].map((prefix) => `${prefix}${access.verb}`)
  const errors: FieldError[] = []
  for (const driver of changedDrivers(status, before)) {
    const reasons: string[] = []
    for (const verb of verbs) {
      const why = await whyNot({ ...access, verb, subresource: 'driver', name: driver }, user, parts.authorizers)
      if (why === undefined) break
      reasons.push(why)
    }
    if (reasons.length < verbs.length) continue
    const what = `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(' ')}]" permission`
    errors.push(forbidden('status.devices', `${what}: ${reasons[0]}`))
  }
  return errors
}

/** The message of the refusal of an access; undefined if it is allowed. */
async function whyNot(access: ResourceInfoAccess, user: User, authorizers: readonly Authorizer[]): Promise<string | undefined> {
  const { kind, reason } = await decide(authorizers, user, access)
  return kind === 'allow' ? undefined : refusal(user, access, reason).message
}

/** Drivers with a device whose status is added, changed or removed, in order. */
function changedDrivers(status: Status, before: Status): readonly string[] {
  const keyOf = ({ driver, pool, device, shareID }: NonNullable<Status['devices']>[number]) =>
    JSON.stringify([driver, pool, device, shareID ?? ''])
  const [after, known] = [status, before].map(({ devices }) => new Map((devices ?? []).map((device) => [keyOf(device), device])))
  const drivers = new Set<string>()
  for (const [key, device] of after ?? []) if (!isSame(known?.get(key), device)) drivers.add(device.driver)
  for (const [key, device] of known ?? []) if (after?.has(key) !== true) drivers.add(device.driver)
  return [...drivers].sort()
}

/** The single node that can use the devices; undefined if it is not given by name. */
function nodeOf({ allocation }: Status): string | undefined {
  const [term, ...others] = allocation?.nodeSelector?.nodeSelectorTerms ?? []
  const [field, ...more] = term?.matchFields ?? []
  const isPlain = others.length === 0 && more.length === 0 && (term?.matchExpressions ?? []).length === 0
  const isName = field?.key === 'metadata.name' && field.operator === 'In' && field.values?.length === 1
  return isPlain && isName ? field.values?.[0] : undefined
}

/** True for a service account whose token is for a Pod on the node. */
function isOnNode({ name, extra }: User, node: string | undefined, names: Names): boolean {
  const nodes = extra[subdomainLabel(names, 'authentication', 'node-name')] ?? []
  return node !== undefined && name.startsWith('system:serviceaccount:') && nodes.length === 1 && nodes[0] === node
}
