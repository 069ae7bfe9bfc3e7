import { dropFieldsOfFormerType } from '@orch/core/catalogue'
import type { ApiObject, FieldError } from '@orch/core/meta'
import type { KindRules } from './kind-rules.ts'

/** Addresses and ports are reserved beside the write; see `allocation`. */
export const serviceStrategy: KindRules = {
  prepareCreate(object) {
    object.status = { loadBalancer: {} }
    fillAddresses(object)
  },
  prepareUpdate: fillAddresses,
  completeUpdate(object, live) {
    const spec = structuredClone((object.spec ?? {}) as Record<string, unknown>)
    dropFieldsOfFormerType(spec, (live.spec ?? {}) as Record<string, unknown>)
    object.spec = spec
  },
  validate: (object, live) => (live === undefined ? [] : validateAddress(object, live)),
}

/** Older clients give the one address only. Its writer does not own the field that the server fills in. */
function fillAddresses(object: ApiObject): void {
  const { clusterIP = '', clusterIPs = [] } = (object.spec ?? {}) as AddressSpec
  if (clusterIP !== '' && clusterIPs.length === 0) object.spec = { ...(object.spec as object), clusterIPs: [clusterIP] }
}

interface AddressSpec {
  readonly type?: string
  readonly clusterIP?: string
  readonly clusterIPs?: readonly string[]
}

/** Clients have the address; it may be left out of an update, but not become another. */
function validateAddress(object: ApiObject, live: ApiObject): FieldError[] {
  const after = (object.spec ?? {}) as AddressSpec
  const before = (live.spec ?? {}) as AddressSpec
  const given = after.clusterIP || after.clusterIPs?.[0] || ''
  if (given === '' || !before.clusterIP || after.type === 'ExternalName' || before.type === 'ExternalName') return []
  if (given === before.clusterIP) return []
  const message = `Invalid value: []string{${JSON.stringify(given)}}: may not change once set`
  return [{ reason: 'FieldValueInvalid', field: 'spec.clusterIPs[0]', message }]
}
