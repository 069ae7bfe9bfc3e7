import type { FieldError } from '../../meta/status.ts'
import { checkLabel, checkLabelValue, checkSubdomain } from '../../meta/validate-names.ts'
import type { Names } from '../../names.ts'
import {
  duplicateValue,
  immutableValue,
  invalidFor,
  invalidValue,
  requiredValue,
  tooManyValues,
  unsupportedValue,
} from '../../validation/field-errors.ts'
import { checkIp, ipFamilyOf, validateOrdinaryIp } from '../../validation/ip-address.ts'
import { isSame, itemsOf, optionalPart, type Part, textOf } from '../../validation/part.ts'
import { validateLabelMap } from '../../validation/selector.ts'
import { checkPortNumber, validateHostDomain } from '../../validation/texts.ts'
import { endpointToFirst } from '../conversion/endpoint-slice.ts'
import { allowOneOf } from './checks.ts'
import { portProtocols, validateAppProtocol, validateProtocol } from './service.ts'

const endpointsMax = 1000
const addressesMax = 100
const portsMax = 20_000
const zonesMax = 8
const topologyLabelsMax = 16
const addressTypes = ['FQDN', 'IPv4', 'IPv6']

/** The rules of an Endpoints object. One that was stored with mistakes may be written again with them. */
export function validateEndpoints(endpoints: Part, live: Part | undefined): FieldError[] {
  if (live !== undefined && isSame(endpoints['subsets'], live['subsets'])) return []
  return itemsOf(endpoints, 'subsets').flatMap((subset, index) => validateSubset(subset, `subsets[${index}]`))
}

function validateSubset(subset: Part, at: string): FieldError[] {
  const [ready, others, ports] = [itemsOf(subset, 'addresses'), itemsOf(subset, 'notReadyAddresses'), itemsOf(subset, 'ports')]
  const errors = ready.length + others.length === 0 ? [requiredValue(at, 'must specify `addresses` or `notReadyAddresses`')] : []
  for (const [index, address] of ready.entries()) errors.push(...validateAddress(address, `${at}.addresses[${index}]`))
  for (const [index, address] of others.entries()) errors.push(...validateAddress(address, `${at}.notReadyAddresses[${index}]`))
  for (const [index, port] of ports.entries()) errors.push(...validatePort(port, `${at}.ports[${index}]`, ports.length > 1))
  return errors
}

function validateAddress(address: Part, at: string): FieldError[] {
  const [ip, host, node] = [textOf(address, 'ip'), textOf(address, 'hostname'), address['nodeName']]
  return [
    ...invalidFor(`${at}.ip`, ip, checkIp(ip)),
    ...(host === '' ? [] : invalidFor(`${at}.hostname`, host, checkLabel(host))),
    ...(typeof node === 'string' ? invalidFor(`${at}.nodeName`, node, checkSubdomain(node)) : []),
    ...validateOrdinaryIp(ip, `${at}.ip`),
  ]
}

function validatePort(port: Part, at: string, needsName: boolean): FieldError[] {
  const name = textOf(port, 'name')
  const errors = name === '' && needsName ? [requiredValue(`${at}.name`)] : []
  if (name !== '') errors.push(...invalidFor(`${at}.name`, name, checkLabel(name)))
  const number = Number(port['port'] ?? 0)
  return [
    ...errors,
    ...invalidFor(`${at}.port`, number, checkPortNumber(number)),
    ...validateProtocol(port, at),
    ...validateAppProtocol(port, at),
  ]
}

/** The rules of an EndpointSlice of v1beta1: those of v1, in its words. */
export function validateBetaSlice(slice: Part, live: Part | undefined, names: Names): FieldError[] {
  const endpoints = itemsOf(slice, 'endpoints').map((endpoint) => endpointToFirst(endpoint, names))
  return validateEndpointSlice({ ...slice, endpoints }, live)
}

/** The rules of an EndpointSlice, whose addresses are all of one type, now and later. */
export function validateEndpointSlice(slice: Part, live: Part | undefined): FieldError[] {
  const type = textOf(slice, 'addressType')
  return [
    ...validateAddressType(type),
    ...validateSliceEndpoints(itemsOf(slice, 'endpoints'), type),
    ...validateSlicePorts(itemsOf(slice, 'ports')),
    ...(live === undefined ? [] : immutableValue('addressType', type, live['addressType'])),
  ]
}

function validateAddressType(type: string): FieldError[] {
  if (type === '') return [requiredValue('addressType')]
  return addressTypes.includes(type) ? [] : [unsupportedValue('addressType', type, addressTypes)]
}

function validateSliceEndpoints(endpoints: readonly Part[], type: string): FieldError[] {
  if (endpoints.length > endpointsMax) return [tooManyValues('endpoints', endpoints.length, endpointsMax)]
  return endpoints.flatMap((endpoint, index) => {
    const at = `endpoints[${index}]`
    const [node, host] = [endpoint['nodeName'], endpoint['hostname']]
    return [
      ...validateSliceAddresses(itemsOf<string>(endpoint, 'addresses'), type, `${at}.addresses`),
      ...(typeof node === 'string' ? invalidFor(`${at}.nodeName`, node, checkSubdomain(node)) : []),
      ...validateTopology(endpoint, `${at}.deprecatedTopology`),
      ...(typeof host === 'string' ? invalidFor(`${at}.hostname`, host, checkLabel(host)) : []),
      ...validateZones(itemsOf(optionalPart(endpoint, 'hints'), 'forZones'), `${at}.hints.forZones`),
    ]
  })
}

function validateSliceAddresses(addresses: readonly string[], type: string, at: string): FieldError[] {
  const errors: FieldError[] = []
  if (addresses.length === 0) errors.push(requiredValue(at, 'must contain at least 1 address'))
  if (addresses.length > addressesMax) errors.push(tooManyValues(at, addresses.length, addressesMax))
  for (const [index, address] of addresses.entries()) {
    const field = `${at}[${index}]`
    if (type === 'FQDN') errors.push(...validateHostDomain(address, field))
    if (type !== 'IPv4' && type !== 'IPv6') continue
    if (ipFamilyOf(address) !== type) errors.push(invalidValue(field, address, `must be a valid ${type} address`))
    errors.push(...validateOrdinaryIp(address, field))
  }
  return errors
}

function validateTopology(endpoint: Part, at: string): FieldError[] {
  const count = Object.keys(optionalPart(endpoint, 'deprecatedTopology') ?? {}).length
  const errors = count > topologyLabelsMax ? [tooManyValues(at, count, topologyLabelsMax)] : []
  return [...errors, ...validateLabelMap(endpoint, 'deprecatedTopology', at)]
}

function validateZones(zones: readonly Part[], at: string): FieldError[] {
  if (zones.length > zonesMax) return [tooManyValues(at, zones.length, zonesMax)]
  const seen = new Set<string>()
  return zones.flatMap((zone, index) => {
    const field = `${at}[${index}].name`
    const name = textOf(zone, 'name')
    const errors = seen.has(name) ? [duplicateValue(field, name)] : []
    seen.add(name)
    return [...errors, ...invalidFor(field, name, checkLabelValue(name))]
  })
}

function validateSlicePorts(ports: readonly Part[]): FieldError[] {
  if (ports.length > portsMax) return [tooManyValues('ports', ports.length, portsMax)]
  const seen = new Set<string>()
  return ports.flatMap((port, index) => {
    const at = `ports[${index}]`
    const name = textOf(port, 'name')
    const errors = name === '' ? [] : invalidFor(`${at}.name`, name, checkLabel(name))
    if (seen.has(name)) errors.push(duplicateValue(`${at}.name`, name))
    seen.add(name)
    allowOneOf(errors, { part: port, name: 'protocol', at }, portProtocols)
    return [...errors, ...validateAppProtocol(port, at)]
  })
}
