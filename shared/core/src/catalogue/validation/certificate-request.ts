import type { FieldError } from '../../meta/status.ts'
import { domainLabel, type Names } from '../../names.ts'
import {
  duplicateValue,
  forbiddenValue,
  invalidValue,
  requiredValue,
  requiredValueUntil,
  unsupportedValue,
} from '../../validation/field-errors.ts'
import { itemsOf, type Part, partOf, repeatedPlaces, textOf } from '../../validation/part.ts'
import { numberOf, requireOneOf } from './checks.ts'
import { validateSignerName } from './signer-name.ts'

const secondsMin = 600
const usages = [
  ...['any', 'cert sign', 'client auth', 'code signing', 'content commitment', 'crl sign', 'data encipherment', 'decipher only'],
  ...['digital signature', 'email protection', 'encipher only', 'ipsec end system', 'ipsec tunnel', 'ipsec user', 'key agreement'],
  ...['key encipherment', 'microsoft sgc', 'netscape sgc', 'ocsp signing', 's/mime', 'server auth', 'signing', 'timestamping'],
]
/** Conditions that are never removed, and can only be True. */
const verdicts = ['Approved', 'Denied', 'Failed']

/** The rules of a CertificateSigningRequest. The gateway validates the PEM, because that needs cryptography. */
export function validateCertificateRequest(request: Part, _live: Part | undefined, names: Names): FieldError[] {
  const spec = partOf(request, 'spec')
  const signer = textOf(spec, 'signerName')
  const errors: FieldError[] = []
  errors.push(...validateUsages(itemsOf<string>(spec, 'usages')))
  if (signer === domainLabel(names, 'legacy-unknown')) {
    errors.push(invalidValue('spec.signerName', signer, 'the legacy signerName is not allowed via this API version'))
  } else errors.push(...validateSignerName(signer, 'spec.signerName'))
  const seconds = numberOf(spec, 'expirationSeconds')
  if (seconds !== undefined && seconds < secondsMin) {
    errors.push(invalidValue('spec.expirationSeconds', seconds, `may not specify a duration less than ${secondsMin} seconds (10 minutes)`))
  }
  return errors
}

/** The rules for the status of a CertificateSigningRequest, which the approval subresource also writes. */
export function validateCertificateRequestStatus(request: Part, live: Part | undefined): FieldError[] {
  const status = partOf(request, 'status')
  const conditions = itemsOf(status, 'conditions')
  const errors = validateConditions(conditions)
  const certificate = textOf(status, 'certificate')
  const before = textOf(partOf(live, 'status'), 'certificate')
  for (const verdict of live === undefined ? [] : verdicts) {
    const count = (list: readonly Part[]): number => list.filter((condition) => textOf(condition, 'type') === verdict).length
    if (count(conditions) >= count(itemsOf(partOf(live, 'status'), 'conditions'))) continue
    errors.push(forbiddenValue('status.conditions', `updates may not remove a condition of type ${JSON.stringify(verdict)}`))
  }
  if (before !== '' && certificate !== before) {
    errors.push(forbiddenValue('status.certificate', 'updates may not modify existing certificate content'))
  }
  return errors
}

function validateUsages(given: readonly string[]): FieldError[] {
  if (given.length === 0) return [requiredValueUntil(25, 'spec.usages', 'usages must be provided')]
  const repeated = repeatedPlaces(given)
  const at = (index: number) => `spec.usages[${index}]`
  return [
    ...given.flatMap((usage, index) => (usages.includes(usage) ? [] : [unsupportedValue(at(index), usage, usages)])),
    ...[...repeated].map((index) => duplicateValue(at(index), given[index])),
  ]
}

function validateConditions(conditions: readonly Part[]): FieldError[] {
  const types = conditions.map((condition) => textOf(condition, 'type'))
  const first = new Map<string, number>()
  for (const [index, type] of types.entries()) if (!first.has(type)) first.set(type, index)
  const isBefore = (type: string, index: number): boolean => (first.get(type) ?? index) < index
  return conditions.flatMap((condition, index) => {
    const at = `status.conditions[${index}]`
    const type = types[index] ?? ''
    const allowed = verdicts.includes(type) ? ['True'] : ['False', 'True', 'Unknown']
    const errors = type === '' ? [requiredValue(`${at}.type`)] : []
    requireOneOf(errors, { part: condition, name: 'status', at }, allowed)
    const opposite = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined
    if (opposite !== undefined && isBefore(opposite, index)) {
      errors.push(invalidValue(`${at}.type`, type, 'Approved and Denied conditions are mutually exclusive'))
    }
    if (isBefore(type, index)) errors.push(duplicateValue(`${at}.type`, type))
    return errors
  })
}
