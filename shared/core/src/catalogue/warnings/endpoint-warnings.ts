import type { WarningRule } from '../../kind/define-resource.ts'
import { itemsOf, type Part, partOf, textOf } from '../../validation/part.ts'
import { warningsOfCidr, warningsOfIp } from './address-warnings.ts'

/** The first level that warns about addresses of these kinds. */
const addressesCheckedSince = 33
/** The first level at which the address type FQDN is deprecated. */
const namesDeprecatedSince = 27

/** The warnings about the addresses of an Endpoints object. */
export const warningsOfEndpoints: WarningRule = ({ subsets }, _live, _names, { level }) => {
  if (level < addressesCheckedSince) return []
  return itemsOf({ subsets }, 'subsets').flatMap((subset, at) =>
    ['addresses', 'notReadyAddresses'].flatMap((list) =>
      itemsOf(subset, list).flatMap((address, index) => warningsOfIp(textOf(address, 'ip'), `subsets[${at}].${list}[${index}].ip`, level)),
    ),
  )
}

/** The warnings about the addresses of an EndpointSlice, and about its address type if it is new. */
export const warningsOfEndpointSlice: WarningRule = (slice, live, _names, { level }) => {
  if (textOf(slice, 'addressType') === 'FQDN') {
    return live === undefined && level >= namesDeprecatedSince ? ['spec.addressType: FQDN endpoints are deprecated'] : []
  }
  if (level < addressesCheckedSince) return []
  return itemsOf(slice, 'endpoints').flatMap((endpoint, at) =>
    itemsOf<string>(endpoint, 'addresses').flatMap((address, index) =>
      warningsOfIp(address, `endpoints[${at}].addresses[${index}]`, level),
    ),
  )
}

/** The warnings about the ranges of a NetworkPolicy. */
export const warningsOfNetworkPolicy: WarningRule = (policy, _live, _names, { level }) => {
  if (level < addressesCheckedSince) return []
  const spec = partOf(policy, 'spec')
  return [...ofPeers(spec, ['ingress', 'from'], level), ...ofPeers(spec, ['egress', 'to'], level)]
}

function ofPeers(spec: Part, [direction, end]: readonly [string, string], level: number): string[] {
  return itemsOf(spec, direction).flatMap((rule, index) =>
    itemsOf(rule, end).flatMap((peer, place) => {
      const [block, at] = [partOf(peer, 'ipBlock'), `spec.${direction}[${index}].${end}[${place}].ipBlock`]
      const ofExcepted = itemsOf<string>(block, 'except').flatMap((range, hole) => warningsOfCidr(range, `${at}.except[${hole}]`, level))
      return [...warningsOfCidr(textOf(block, 'cidr'), `${at}.cidr`, level), ...ofExcepted]
    }),
  )
}
