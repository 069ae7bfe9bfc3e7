import { dropFieldsOfFormerType } from '@orch/core/catalogue'
import type { FieldError } from '@orch/core/meta'
import type { BuiltIn, MutableBuiltIn } from '@orch/core/schema'
import { invalidTexts } from '@orch/core/validation'
import type { RulesOf } from './kind-rules.ts'

/** Addresses and ports are reserved beside the write; see `allocation`. */
export const serviceStrategy: RulesOf<'core/v1.Service'> = {
  prepareCreate(object) {
    object.status = { loadBalancer: {} }
    fillAddresses(object)
  },
  prepareUpdate: fillAddresses,
  completeUpdate(object, live, { subresource, level }) {
    if (subresource !== undefined) return
    const spec = structuredClone(object.spec)
    dropFieldsOfFormerType(spec, live.spec, level)
    if (spec.type !== 'ExternalName' && live.spec.type !== 'ExternalName') keepAddresses(spec, live.spec)
    object.spec = spec
    // The load balancer is gone for clients at once, even if its removal takes time.
    if (spec.type !== 'LoadBalancer') object.status = { ...object.status, loadBalancer: {} }
  },
  validate: (object, live) => (live === undefined ? [] : validateAddress(object, live)),
}

/** Older clients set only the single address. Its writer does not own the field that the server sets. */
function fillAddresses(object: MutableBuiltIn<'core/v1.Service'>): void {
  const { clusterIP = '', clusterIPs = [] } = object.spec
  if (clusterIP !== '' && clusterIPs.length === 0) object.spec = { ...object.spec, clusterIPs: [clusterIP] }
}

/** An update that gives no address keeps that of the Service. */
function keepAddresses(spec: Addresses, { clusterIP, clusterIPs }: BuiltIn<'core/v1.Service'>['spec']): void {
  if (!spec.clusterIP && clusterIP !== undefined) spec.clusterIP = clusterIP
  if ((spec.clusterIPs ?? []).length === 0 && spec.clusterIP === clusterIP && clusterIPs !== undefined) spec.clusterIPs = clusterIPs
}

interface Addresses {
  clusterIP?: string
  clusterIPs?: readonly string[]
}

/** Clients have the address; it may be left out of an update, but not become another. */
function validateAddress({ spec: after }: BuiltIn<'core/v1.Service'>, { spec: before }: BuiltIn<'core/v1.Service'>): FieldError[] {
  const given = after.clusterIP || after.clusterIPs?.[0] || ''
  if (given === '' || !before.clusterIP || after.type === 'ExternalName' || before.type === 'ExternalName') return []
  if (given === before.clusterIP) return []
  return [invalidTexts('spec.clusterIPs[0]', [given], 'may not change once set')]
}
