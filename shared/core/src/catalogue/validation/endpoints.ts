import { checkLabel, type FieldError, textSince } from '../../meta/index.ts'
import type { Names } from '../../names.ts'
import { duplicateValue, invalidFor, invalidValue, requiredValue, tooManyValues } from '../../validation/field-errors.ts'
import { checkCanonicalIp, type IpFamily, ipFamilyOf, validateLegacyIp, validateOrdinaryIp } from '../../validation/ip-address.ts'
import { isSame, itemsOf, optionalPart, type Part, textOf } from '../../validation/part.ts'
import type { RuleContext, TypeRules } from '../../validation/rule-book.ts'
import { validateHostDomain } from '../../validation/texts.ts'
import { endpointToFirst } from '../conversion/endpoint-slice.ts'
import { addressesChecked } from './checks.ts'
import { requireName } from './service.ts'

const addressesMax = 100
const topologyLabelsMax = 16
/** With more zones than this, nodes are not checked. */
const zonesMax = 8

/** The first level that checks IPv4 addresses as in other kinds, and requires the canonical form of IPv6 addresses. */
const addressesApartSince = 33
/** The first level that reports errors of declarative rules of EndpointSlices after other errors. */
const declaredSince = 36
const neededAddress = textSince(declaredSince, { before: 'Required value: must contain at least 1 address', after: 'Required value' })

/** An Endpoints object, or an EndpointSlice, whose addresses are all of one immutable type. */
export const endpointRules: Readonly<Record<string, TypeRules>> = {
  // Stored objects with errors may be written again unchanged.
  'core/v1.Endpoints': [{ when: ({ subsets }, { live }) => live === undefined || !isSame(subsets, live['subsets']), steps: ['subsets'] }],
  'core/v1.EndpointSubset': [requireAddress, 'addresses', 'notReadyAddresses', 'ports'],
  'core/v1.EndpointAddress': [
    (errors, address, at, context) => void errors.push(...validateLegacyIp(textOf(address, 'ip'), `${at}.ip`, addressesChecked(context))),
    ...['hostname', 'nodeName'],
    (errors, address, at, { level }) => void errors.push(...validateOrdinaryIp(textOf(address, 'ip'), `${at}.ip`, level)),
  ],
  'core/v1.EndpointPort': [requireName, 'name', 'port', 'protocol', 'appProtocol'],
  'discovery/v1.EndpointSlice': [
    { until: declaredSince - 1, step: 'addressType' },
    { until: addressesApartSince - 1, step: 'endpoints' },
    'ports',
    // Stored endpoints with errors may be written again unchanged.
    { when: ({ endpoints }, { live }) => live === undefined || !isSame(endpoints, live['endpoints']), steps: ['endpoints'] },
    'addressType',
  ],
  'discovery/v1.Endpoint': [validateAddresses, 'nodeName', validateTopology, 'deprecatedTopology', 'hostname', 'hints'],
  'discovery/v1.EndpointHints': [
    'forZones',
    { when: ({ forZones }) => !(Array.isArray(forZones) && forZones.length > zonesMax), steps: ['forNodes'] },
  ],
  'discovery/v1.EndpointPort': [validatePortName, 'protocol', 'appProtocol'],
}

function requireAddress(errors: FieldError[], subset: Part, at: string): void {
  if (itemsOf(subset, 'addresses').length + itemsOf(subset, 'notReadyAddresses').length > 0) return
  errors.push(requiredValue(at, 'must specify `addresses` or `notReadyAddresses`'))
}

/** The rules of an EndpointSlice in v1beta1: the rules of v1, with the field names of v1beta1. */
export function validateBetaSlice(slice: Part, _live: Part | undefined, names: Names, context: RuleContext): FieldError[] {
  const endpoints = itemsOf(slice, 'endpoints').map((endpoint) => endpointToFirst(endpoint, names))
  return context.rules.checkObject('discovery/v1.EndpointSlice', 'main', { ...context, object: { ...slice, endpoints } })
}

function validateAddresses(errors: FieldError[], endpoint: Part, place: string, context: RuleContext): void {
  const addresses = itemsOf<string>(endpoint, 'addresses')
  const [type, at] = [textOf(context.object, 'addressType'), `${place}.addresses`]
  if (addresses.length === 0) errors.push({ reason: 'FieldValueRequired', field: at, message: neededAddress })
  if (addresses.length > addressesMax) errors.push(tooManyValues(at, addresses.length, addressesMax))
  for (const [index, address] of addresses.entries()) {
    const field = `${at}[${index}]`
    if (type === 'FQDN') errors.push(...validateHostDomain(address, field))
    if (type !== 'IPv4' && type !== 'IPv6') continue
    if (context.level >= addressesApartSince) {
      errors.push(...validateApart(address, type, { list: at, field, context }))
      continue
    }
    if (ipFamilyOf(address) !== type) errors.push(invalidValue(field, address, `must be a valid ${type} address`))
    errors.push(...validateOrdinaryIp(address, field, context.level))
  }
}

interface AddressPlace {
  /** The path of the list. */
  readonly list: string
  readonly field: string
  readonly context: RuleContext
}

function validateApart(address: string, type: IpFamily, { list, field, context }: AddressPlace): FieldError[] {
  const ofText =
    type === 'IPv4' ? validateLegacyIp(address, field, addressesChecked(context)) : invalidFor(field, address, checkCanonicalIp(address))
  if (ofText.length > 0) return ofText
  const ofFamily = ipFamilyOf(address) === type ? [] : [invalidValue(list, address, `must be an ${type} address`)]
  return [...ofFamily, ...validateOrdinaryIp(address, field, context.level)]
}

function validateTopology(errors: FieldError[], endpoint: Part, at: string): void {
  const count = Object.keys(optionalPart(endpoint, 'deprecatedTopology') ?? {}).length
  if (count > topologyLabelsMax) errors.push(tooManyValues(`${at}.deprecatedTopology`, count, topologyLabelsMax))
}

/** Duplicate port names are refused even if they are empty. */
function validatePortName(errors: FieldError[], port: Part, at: string, { object }: RuleContext): void {
  const name = textOf(port, 'name')
  if (name !== '') errors.push(...invalidFor(`${at}.name`, name, checkLabel(name)))
  const isFirst = itemsOf(object, 'ports').find((other) => textOf(other, 'name') === name) === port
  if (!isFirst) errors.push(duplicateValue(`${at}.name`, name))
}
