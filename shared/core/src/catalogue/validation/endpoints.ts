import type { FieldError } from '../../meta/status.ts'
import { checkLabel } from '../../meta/validate-names.ts'
import type { Names } from '../../names.ts'
import { duplicateValue, invalidFor, invalidValue, requiredValue, tooManyValues } from '../../validation/field-errors.ts'
import { ipFamilyOf, validateOrdinaryIp } from '../../validation/ip-address.ts'
import { isSame, itemsOf, optionalPart, type Part, textOf } from '../../validation/part.ts'
import type { RuleContext, TypeRules } from '../../validation/rule-book.ts'
import { validateHostDomain } from '../../validation/texts.ts'
import { endpointToFirst } from '../conversion/endpoint-slice.ts'
import { requireName } from './service.ts'

const addressesMax = 100
const topologyLabelsMax = 16

/** An Endpoints object, or an EndpointSlice, whose addresses are all of one type, now and later. */
export const endpointRules: Readonly<Record<string, TypeRules>> = {
  // An object that was stored with mistakes may be written again with them.
  'core/v1.Endpoints': [{ when: ({ subsets }, { live }) => live === undefined || !isSame(subsets, live['subsets']), steps: ['subsets'] }],
  'core/v1.EndpointSubset': [requireAddress, 'addresses', 'notReadyAddresses', 'ports'],
  'core/v1.EndpointAddress': [
    ...['ip', 'hostname', 'nodeName'],
    (errors, address, at) => void errors.push(...validateOrdinaryIp(textOf(address, 'ip'), `${at}.ip`)),
  ],
  'core/v1.EndpointPort': [requireName, 'name', 'port', 'protocol', 'appProtocol'],
  'discovery/v1.EndpointSlice': ['addressType', 'endpoints', 'ports'],
  'discovery/v1.Endpoint': [validateAddresses, 'nodeName', validateTopology, 'deprecatedTopology', 'hostname', 'hints'],
  'discovery/v1.EndpointPort': [validatePortName, 'protocol', 'appProtocol'],
}

function requireAddress(errors: FieldError[], subset: Part, at: string): void {
  if (itemsOf(subset, 'addresses').length + itemsOf(subset, 'notReadyAddresses').length > 0) return
  errors.push(requiredValue(at, 'must specify `addresses` or `notReadyAddresses`'))
}

/** The rules of an EndpointSlice of v1beta1: those of v1, with its names of fields. */
export function validateBetaSlice(slice: Part, _live: Part | undefined, names: Names, context: RuleContext): FieldError[] {
  const endpoints = itemsOf(slice, 'endpoints').map((endpoint) => endpointToFirst(endpoint, names))
  return context.rules.checkObject('discovery/v1.EndpointSlice', 'main', { ...context, object: { ...slice, endpoints } })
}

function validateAddresses(errors: FieldError[], endpoint: Part, place: string, { object }: RuleContext): void {
  const addresses = itemsOf<string>(endpoint, 'addresses')
  const [type, at] = [textOf(object, 'addressType'), `${place}.addresses`]
  if (addresses.length === 0) errors.push(requiredValue(at, 'must contain at least 1 address'))
  if (addresses.length > addressesMax) errors.push(tooManyValues(at, addresses.length, addressesMax))
  for (const [index, address] of addresses.entries()) {
    const field = `${at}[${index}]`
    if (type === 'FQDN') errors.push(...validateHostDomain(address, field))
    if (type !== 'IPv4' && type !== 'IPv6') continue
    if (ipFamilyOf(address) !== type) errors.push(invalidValue(field, address, `must be a valid ${type} address`))
    errors.push(...validateOrdinaryIp(address, field))
  }
}

function validateTopology(errors: FieldError[], endpoint: Part, at: string): void {
  const count = Object.keys(optionalPart(endpoint, 'deprecatedTopology') ?? {}).length
  if (count > topologyLabelsMax) errors.push(tooManyValues(`${at}.deprecatedTopology`, count, topologyLabelsMax))
}

/** Names of ports are compared even where they are empty. */
function validatePortName(errors: FieldError[], port: Part, at: string, { object }: RuleContext): void {
  const name = textOf(port, 'name')
  if (name !== '') errors.push(...invalidFor(`${at}.name`, name, checkLabel(name)))
  const isFirst = itemsOf(object, 'ports').find((other) => textOf(other, 'name') === name) === port
  if (!isFirst) errors.push(duplicateValue(`${at}.name`, name))
}
