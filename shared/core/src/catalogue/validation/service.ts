import { memo } from '@orch/cel/memo'
import { field } from '../../description/fields.ts'
import { closed, only } from '../../description/texts.ts'
import { list, ref } from '../../description/values.ts'
import { checkQualifiedName, checkSubdomain, type FieldError, textSince } from '../../meta/index.ts'
import { type Names, subdomainLabel } from '../../names.ts'
import { goValue } from '../../schema/go-value.ts'
import {
  duplicateValue,
  forbiddenValue,
  invalidFor,
  invalidTexts,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../../validation/field-errors.ts'
import { cidrFamilyOf, ipFamilyOf, parseIp, validateLegacyCidr, validateLegacyIp, validateOrdinaryIp } from '../../validation/ip-address.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { as, type PartRule, type RuleContext, type TypeRules } from '../../validation/rule-book.ts'
import { checkPortName, checkPortNumber } from '../../validation/texts.ts'
import { hasHealthPort, isReachedFromOutside, outerAddressesCountSince } from '../defaults/service-type.ts'
import { addressesChecked } from './checks.ts'

const affinitySecondsMax = 86_400
/** The port of the kubelet; up to this level, a Service must not make it reachable from outside. */
const nodeAgentPort = 10_250
const nodeAgentPortRefusedUntil = 32

/** A rule of a Service's spec. */
const ofSpec =
  (find: (spec: Part, context: RuleContext) => readonly FieldError[]): PartRule =>
  (errors, spec, _at, context) =>
    void errors.push(...find(spec, context))

const families = as('ipFamilies', field(list(only(closed('IPv4', 'IPv6')), { isUnique: true })))

/** The first level that refuses load balancer addresses in the status of other Services. */
const balancersOnlySince = 29

/** A Service. Its cluster addresses are validated when they are allocated. */
export const serviceRules: Readonly<Record<string, TypeRules>> = {
  'core/v1.ServiceSpec': [
    ofSpec(validateKeptAddress),
    { since: 27, step: ofSpec(validateTopologyMode) },
    ofSpec(validateByType),
    ...['ports', 'selector'],
    ofSpec(validateAffinity),
    { when: hasAddress, steps: [ofSpec(validateFirstAddress), families, 'ipFamilyPolicy', ofSpec(validateAddresses)] },
    ofSpec(validateOuterAddresses),
    ...['type', ofSpec(validatePortsTogether)],
    ofSpec(validateBalancer),
    ofSpec(validateTrafficPolicy),
    'internalTrafficPolicy',
    ofSpec(validateHealthPort),
    ofSpec(validateHealthPortChange),
    ofSpec(validatePreference),
    { passedOver: ['trafficDistribution'] },
  ],
  'core/v1.ServicePort': [requireName, 'name', 'port', 'protocol', validateTargetPort, 'appProtocol'],
  'core/v1.ServiceStatus': [{ passedOver: ['conditions'] }],
  'core/v1.LoadBalancerStatus': [
    { since: balancersOnlySince, step: refuseWithoutBalancer },
    { when: (_status, { object, level }) => level < balancersOnlySince || hasBalancer(object), steps: ['ingress'] },
  ],
  'core/v1.LoadBalancerIngress': [
    validatePoint,
    { since: 29, step: validateMode },
    validateHost,
    { passedOver: ['hostname', 'ip', 'ipMode', 'ports'] },
  ],
  'networking/v1.IngressLoadBalancerIngress': [validatePoint, validateHost, { passedOver: ['ports'] }],
}

/** A single port needs no name. */
export function requireName(errors: FieldError[], { name }: Part, at: string, { object }: RuleContext): void {
  if (typeof name === 'string' && name !== '') return
  const [path = '', index] = at.split(/\.?ports\[/)
  const subset = () => itemsOf(object, 'subsets')[Number(path.slice('subsets['.length, -1))] ?? {}
  const ports = itemsOf(path === 'spec' ? partOf(object, 'spec') : subset(), 'ports')
  if (index !== undefined && ports.length > 1) errors.push(requiredValue(`${at}.name`))
}

function hasBalancer(service: Part): boolean {
  return textOf(partOf(service, 'spec'), 'type') === 'LoadBalancer'
}

function refuseWithoutBalancer(errors: FieldError[], status: Part, at: string, { object }: RuleContext): void {
  if (hasBalancer(object) || itemsOf(status, 'ingress').length === 0) return
  errors.push(forbiddenValue(`${at}.ingress`, "may only be used when `spec.type` is 'LoadBalancer'"))
}

/** The load balancer addresses of a stored object. */
const balancersOf = memo((live: Part): ReadonlySet<string> => {
  const points = itemsOf(partOf(partOf(live, 'status'), 'loadBalancer'), 'ingress')
  return new Set(points.map((point) => textOf(point, 'ip')))
})

/** The first level whose message about a load balancer's address contains examples. */
const examplesSince = 30

/** Validates the address of a load balancer in the status of a Service or Ingress. */
function validatePoint(errors: FieldError[], point: Part, at: string, context: RuleContext): void {
  const ip = textOf(point, 'ip')
  if (ip === '') return
  if (context.level < examplesSince) {
    if (parseIp(ip) === undefined) errors.push(invalidValue(`${at}.ip`, ip, 'must be a valid IP address'))
    return
  }
  errors.push(
    ...validateLegacyIp(ip, `${at}.ip`, { ...addressesChecked(context), ...(context.live && { kept: balancersOf(context.live) }) }),
  )
}

/** The IP modes of a load balancer. */
const deliveries = ['Proxy', 'VIP']

function validateMode(errors: FieldError[], point: Part, at: string, { isGateOn }: RuleContext): void {
  const [mode, hasIp] = [point['ipMode'], textOf(point, 'ip') !== '']
  if (!isGateOn('LoadBalancerIPMode')) return
  if (typeof mode !== 'string') {
    if (hasIp) errors.push(requiredValue(`${at}.ipMode`, 'must be specified when `ip` is set'))
  } else if (!hasIp) errors.push(forbiddenValue(`${at}.ipMode`, 'may not be specified when `ip` is not set'))
  else if (!deliveries.includes(mode)) errors.push(unsupportedValue(`${at}.ipMode`, mode, deliveries))
}

function validateHost(errors: FieldError[], point: Part, at: string): void {
  const host = textOf(point, 'hostname')
  errors.push(...invalidFor(`${at}.hostname`, host, host === '' ? [] : checkSubdomain(host)))
  if (parseIp(host) !== undefined) errors.push(invalidValue(`${at}.hostname`, host, 'must be a DNS name, not an IP address'))
}

/** The addresses of a Service. An old client sets only the single address. */
function addressesOf(spec: Part): readonly string[] {
  const addresses = itemsOf<string>(spec, 'clusterIPs')
  const address = textOf(spec, 'clusterIP')
  return addresses.length === 0 && address !== '' ? [address] : addresses
}

/** The old and the new name of an annotation may both be present if their values are equal. */
function validateTopologyMode(_spec: Part, { object, names }: RuleContext): FieldError[] {
  const annotations = partOf(partOf(object, 'metadata'), 'annotations')
  const [former, present] = ['topology-aware-hints', 'topology-mode'].map((name) => subdomainLabel(names, 'service', name))
  const [before, value] = [annotations[former ?? ''], annotations[present ?? '']]
  if (before === undefined || value === undefined || before === value) return []
  return [invalidValue(`metadata.annotations[${present}]`, value, `must match annotations[${former}] when both are specified`)]
}

/** Clients have the address: an update may leave it out, but not replace it by another. */
function validateKeptAddress(spec: Part, context: RuleContext): FieldError[] {
  const before = specBefore(context)
  const [given, had] = [addressesOf(spec), addressesOf(before ?? {})]
  if (given.length === 0 || had.length === 0 || !hasAddress(spec) || !hasAddress(before ?? {})) return []
  if (given.some((address) => address !== 'None' && parseIp(address) === undefined)) return []
  const compared = given.length === had.length ? given : given.slice(0, 1)
  return compared.flatMap((address, index) =>
    address === had[index] ? [] : [invalidTexts(`spec.clusterIPs[${index}]`, given, 'may not change once set')],
  )
}

function validateByType(spec: Part, { level }: RuleContext): FieldError[] {
  const [type, ports, addresses] = [textOf(spec, 'type'), itemsOf(spec, 'ports'), addressesOf(spec)]
  const isHeadless = addresses.length === 1 && addresses[0] === 'None'
  const errors: FieldError[] = []
  if (ports.length === 0 && !isHeadless && type !== 'ExternalName') errors.push(requiredValue('spec.ports'))
  switch (type) {
    case 'LoadBalancer':
      for (const [index, { port }] of ports.entries()) {
        if (port !== nodeAgentPort || level > nodeAgentPortRefusedUntil) continue
        errors.push(
          invalidValue(`spec.ports[${index}]`, port, `may not expose port ${nodeAgentPort} externally since it is used by kubelet`),
        )
      }
      return isHeadless ? [...errors, needsAddress(type)] : errors
    case 'NodePort':
      return isHeadless ? [...errors, needsAddress(type)] : errors
    case 'ExternalName':
      return [...errors, ...validateExternalName(spec, addresses)]
    default:
      return errors
  }
}

function needsAddress(type: string): FieldError {
  return invalidValue('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`)
}

function validateExternalName(spec: Part, addresses: readonly string[]): FieldError[] {
  const detail = 'may not be set for ExternalName services'
  const errors: FieldError[] = []
  if (addresses.length > 0) errors.push(forbiddenValue('spec.clusterIPs', detail))
  if (itemsOf(spec, 'ipFamilies').length > 0) errors.push(forbiddenValue('spec.ipFamilies', detail))
  if (textOf(spec, 'ipFamilyPolicy') !== '') errors.push(forbiddenValue('spec.ipFamilyPolicy', detail))
  const host = textOf(spec, 'externalName').replace(/\.$/, '')
  return [...errors, ...(host === '' ? [requiredValue('spec.externalName')] : invalidFor('spec.externalName', host, checkSubdomain(host)))]
}

function validateTargetPort(errors: FieldError[], port: Part, at: string): void {
  const target = port['targetPort']
  if (typeof target === 'string') errors.push(...invalidFor(`${at}.targetPort`, target, checkPortName(target)))
  if (typeof target === 'number') errors.push(...invalidFor(`${at}.targetPort`, target, checkPortNumber(target)))
}

function validateAffinity(spec: Part): FieldError[] {
  const affinity = textOf(spec, 'sessionAffinity')
  const config = optionalPart(spec, 'sessionAffinityConfig')
  if (affinity === '') return [requiredValue('spec.sessionAffinity')]
  if (affinity === 'None') {
    if (config === undefined) return []
    return [forbiddenValue('spec.sessionAffinityConfig', 'must not be set when session affinity is None')]
  }
  if (affinity !== 'ClientIP') return [unsupportedValue('spec.sessionAffinity', affinity, ['ClientIP', 'None'])]
  const seconds = Number(partOf(config, 'clientIP')['timeoutSeconds'])
  if (seconds > 0 && seconds <= affinitySecondsMax) return []
  return [
    invalidValue(
      'spec.sessionAffinityConfig.clientIP.timeoutSeconds',
      seconds,
      `must be greater than 0 and less than ${affinitySecondsMax}`,
    ),
  ]
}

function hasAddress(spec: Part): boolean {
  return textOf(spec, 'type') !== 'ExternalName'
}

function validateAddresses(spec: Part, context: RuleContext): FieldError[] {
  const checked = addressesChecked(context, itemsOf<string>(specBefore(context), 'clusterIPs'))
  const addresses = addressesOf(spec)
  const isHeadless = addresses.length === 1 && addresses[0] === 'None'
  const errors: FieldError[] = []
  const wrong = addresses.flatMap((address, index) => {
    if (index === 0 && address === 'None') {
      return addresses.length > 1 ? [invalidTexts('spec.clusterIPs', addresses, "'None' must be the first and only value")] : []
    }
    return validateLegacyIp(address, `spec.clusterIPs[${index}]`, checked)
  })
  errors.push(...wrong)
  if (addresses.length > 2) errors.push(invalidTexts('spec.clusterIPs', addresses, 'may only hold up to 2 values'))
  if (wrong.length > 0) return errors
  if (addresses.length > 1 && new Set(addresses.map(ipFamilyOf)).size < 2) {
    errors.push(invalidTexts('spec.clusterIPs', addresses, 'may specify no more than one IP for each IP family'))
  }
  const families = itemsOf<string>(spec, 'ipFamilies')
  if (isHeadless) return errors
  for (const [index, address] of addresses.entries()) {
    const family = families[index]
    if (family === undefined || family === ipFamilyOf(address)) continue
    errors.push(invalidValue(`spec.clusterIPs[${index}]`, address, `expected an ${family} value as indicated by \`ipFamilies[${index}]\``))
  }
  return errors
}

/** `clusterIP` must equal the first of `clusterIPs`, unless the list is unchanged; then the allocator of addresses validates the change. */
function validateFirstAddress(spec: Part, context: RuleContext): FieldError[] {
  const [addresses, before] = [addressesOf(spec), specBefore(context)]
  const address = textOf(spec, 'clusterIP')
  if (before !== undefined && isSame(itemsOf(spec, 'clusterIPs'), itemsOf(before, 'clusterIPs'))) return []
  if (address === '') {
    return addresses.length === 0 ? [] : [invalidTexts('spec.clusterIPs', addresses, 'must be empty when `clusterIP` is not specified')]
  }
  return addresses[0] === address ? [] : [invalidTexts('spec.clusterIPs', addresses, 'first value must match `clusterIP`')]
}

function specBefore({ live }: RuleContext): Part | undefined {
  return live && partOf(live, 'spec')
}

function validateOuterAddresses(spec: Part, context: RuleContext): FieldError[] {
  const checked = addressesChecked(context, itemsOf<string>(specBefore(context), 'externalIPs'))
  return itemsOf<string>(spec, 'externalIPs').flatMap((address, index) => {
    const field = `spec.externalIPs[${index}]`
    const errors = validateLegacyIp(address, field, checked)
    return errors.length > 0 ? errors : validateOrdinaryIp(address, field, context.level)
  })
}

/** Rules about several ports: node ports of the wrong Service type, and duplicate ports. */
function validatePortsTogether(spec: Part): FieldError[] {
  const [ports, type] = [itemsOf(spec, 'ports'), textOf(spec, 'type')]
  const errors: FieldError[] = []
  const [nodePorts, servicePorts] = [new Set<string>(), new Set<string>()]
  const onNodes: FieldError[] = []
  const onService: FieldError[] = []
  for (const [index, { port, nodePort, protocol }] of ports.entries()) {
    if (nodePort) {
      const field = `spec.ports[${index}].nodePort`
      if (type === 'ClusterIP') errors.push(forbiddenValue(field, "may not be used when `type` is 'ClusterIP'"))
      if (nodePorts.has(`${protocol}/${nodePort}`)) onNodes.push(duplicateValue(field, nodePort))
      nodePorts.add(`${protocol}/${nodePort}`)
    }
    if (servicePorts.has(`${protocol}/${port}`))
      onService.push(duplicateValue(`spec.ports[${index}]`, goValue(ref('core/v1.ServicePort'), { port, protocol })))
    servicePorts.add(`${protocol}/${port}`)
  }
  return [...errors, ...onNodes, ...onService]
}

interface SourceRanges {
  readonly field: string
  readonly printed: string
  readonly ranges: readonly string[]
  /** True if the ranges are in the annotation. */
  readonly isAnnotation?: true
}

/** The allowed source ranges of a load balancer, from the field or the deprecated annotation. */
function rangesOf(service: Part, names: Names): SourceRanges | undefined {
  const ranges = itemsOf<string>(partOf(service, 'spec'), 'loadBalancerSourceRanges')
  if (ranges.length > 0) return { field: 'spec.LoadBalancerSourceRanges', printed: `[${ranges.join(' ')}]`, ranges }
  const annotation = subdomainLabel(names, 'service.beta', 'load-balancer-source-ranges')
  const text = partOf(partOf(service, 'metadata'), 'annotations')[annotation]
  if (typeof text !== 'string') return undefined
  const listed = text.trim() === '' ? [] : text.split(',')
  return { field: `metadata.annotations[${annotation}]`, printed: text, ranges: listed, isAnnotation: true }
}

function validateBalancer(spec: Part, context: RuleContext): FieldError[] {
  const [before, ranges] = [specBefore(context), rangesOf(context.object, context.names)]
  const isBalancer = textOf(spec, 'type') === 'LoadBalancer'
  const onlyForBalancers = "may only be used when `type` is 'LoadBalancer'"
  const errors = ranges === undefined ? [] : validateSourceRanges(ranges, isBalancer ? undefined : onlyForBalancers, context)
  if (!isBalancer && spec['allocateLoadBalancerNodePorts'] != null) {
    errors.push(forbiddenValue('spec.allocateLoadBalancerNodePorts', onlyForBalancers))
  }
  const name = spec['loadBalancerClass']
  if (isBalancer && before !== undefined && textOf(before, 'type') === 'LoadBalancer') {
    if (!isSame(name, before['loadBalancerClass']))
      errors.push(invalidValue('spec.loadBalancerClass', name ?? null, 'may not change once set'))
  }
  if (typeof name !== 'string') return errors
  if (!isBalancer) return [...errors, forbiddenValue('spec.loadBalancerClass', onlyForBalancers)]
  return [...errors, ...invalidFor('spec.loadBalancerClass', name, checkQualifiedName(name))]
}

/** The first level that reports each invalid range separately. */
const rangesApartSince = 30

function validateSourceRanges(given: SourceRanges, refusal: string | undefined, context: RuleContext): FieldError[] {
  const { field, printed, ranges, isAnnotation } = given
  const errors = refusal === undefined ? [] : [forbiddenValue(field, refusal)]
  if (context.level >= rangesApartSince) {
    const before = context.live && rangesOf(context.live, context.names)
    if (isAnnotation && before?.printed === printed) return errors
    const kept = isAnnotation || before === undefined ? [] : before.ranges.map((range) => range.trim())
    const checked = addressesChecked(context, kept)
    const at = (index: number): string => (isAnnotation ? field : `${field}[${index}]`)
    return [...errors, ...ranges.flatMap((range, index) => validateLegacyCidr(range.trim(), at(index), checked))]
  }
  if (ranges.every((range) => cidrFamilyOf(range.trim()) !== undefined)) return errors
  return [...errors, invalidValue(field, printed, 'must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ')]
}

function validateHealthPortChange(spec: Part, context: RuleContext): FieldError[] {
  const before = specBefore(context)
  if (before === undefined || !hasHealthPort(spec) || !hasHealthPort(before)) return []
  const [port, portBefore] = [Number(spec['healthCheckNodePort'] ?? 0), Number(before['healthCheckNodePort'] ?? 0)]
  return port === 0 || portBefore === 0 || port === portBefore ? [] : [forbiddenValue('spec.healthCheckNodePort', 'field is immutable')]
}

const trafficPolicies = ['Cluster', 'Local']

function validateTrafficPolicy(spec: Part, { level }: RuleContext): FieldError[] {
  const policy = textOf(spec, 'externalTrafficPolicy')
  if (policy === '') return []
  if (!isReachedFromOutside(spec, level)) {
    const [before, after] = ["when `type` is 'NodePort' or 'LoadBalancer'", 'for externally-accessible services']
    return [
      invalidValue(
        'spec.externalTrafficPolicy',
        policy,
        textSince(outerAddressesCountSince, { before: `may only be set ${before}`, after: `may only be set ${after}` }),
      ),
    ]
  }
  return trafficPolicies.includes(policy) ? [] : [unsupportedValue('spec.externalTrafficPolicy', policy, trafficPolicies)]
}

/** Validates the traffic preference; the message lists the values in this order. */
function validatePreference(spec: Part, { isGateOn }: RuleContext): FieldError[] {
  const preference = spec['trafficDistribution']
  const allowed = ['PreferClose', ...(isGateOn('PreferSameTrafficDistribution') ? ['PreferSameZone', 'PreferSameNode'] : [])]
  if (typeof preference !== 'string' || allowed.includes(preference)) return []
  return [unsupportedValue('spec.trafficDistribution', preference, allowed)]
}

function validateHealthPort(spec: Part): FieldError[] {
  const field = 'spec.healthCheckNodePort'
  const port = Number(spec['healthCheckNodePort'] ?? 0)
  if (port === 0) return []
  if (hasHealthPort(spec)) return invalidFor(field, port, checkPortNumber(port))
  return [invalidValue(field, port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'")]
}
