import { ref } from '../../description/define.ts'
import type { FieldError } from '../../meta/status.ts'
import { checkLabel, checkQualifiedName, checkSubdomain } from '../../meta/validate-names.ts'
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
import { checkIp, cidrFamilyOf, ipFamilyOf, parseIp, validateOrdinaryIp } from '../../validation/ip-address.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, repeatedPlaces, textOf } from '../../validation/part.ts'
import { validateLabelMap } from '../../validation/selector.ts'
import { checkPortName, checkPortNumber } from '../../validation/texts.ts'
import { hasHealthPort } from '../defaults/service-type.ts'
import { isGiven } from './checks.ts'

export const portProtocols: readonly string[] = ['SCTP', 'TCP', 'UDP']

const affinitySecondsMax = 86_400
/** The node's own server listens there; it may not become reachable from outside. */
const nodeAgentPort = 10_250

/** The rules of a Service's spec. Its address is validated where addresses are allocated. */
export function validateService(service: Part, live: Part | undefined, names: Names): FieldError[] {
  const spec = partOf(service, 'spec')
  const before = live === undefined ? undefined : partOf(live, 'spec')
  const addresses = addressesOf(spec)
  const isHeadless = addresses.length === 1 && addresses[0] === 'None'
  const ports = itemsOf(spec, 'ports')
  const errors = validateType(spec, ports, addresses)
  const portNames = new Set<string>()
  for (const [index, port] of ports.entries()) {
    errors.push(...validatePort(port, `spec.ports[${index}]`, ports.length > 1, portNames))
  }
  errors.push(...validateLabelMap(spec, 'selector', 'spec.selector'), ...validateAffinity(spec))
  errors.push(...validateAddresses(spec, addresses, isHeadless, before))
  for (const [index, address] of itemsOf<string>(spec, 'externalIPs').entries()) {
    const field = `spec.externalIPs[${index}]`
    errors.push(...(parseIp(address) === undefined ? invalidFor(field, address, checkIp(address)) : validateOrdinaryIp(address, field)))
  }
  errors.push(...validatePortsTogether(ports, textOf(spec, 'type')), ...validateBalancer(spec, before, rangesOf(service, names)))
  return [...errors, ...validateTrafficPolicy(spec), ...validateHealthPortChange(spec, before)]
}

/** The rules of a Service's status. */
export function validateServiceStatus(service: Part): FieldError[] {
  return validateLoadBalancer(partOf(partOf(service, 'status'), 'loadBalancer'), 'status.loadBalancer')
}

/** Where a balancer can be reached, in the status of Services and Ingresses. */
function validateLoadBalancer(status: Part, path: string): FieldError[] {
  return itemsOf(status, 'ingress').flatMap((point, index) => {
    const at = `${path}.ingress[${index}]`
    const [ip, host] = [textOf(point, 'ip'), textOf(point, 'hostname')]
    const errors: FieldError[] = []
    if (ip !== '' && parseIp(ip) === undefined) errors.push(invalidValue(`${at}.ip`, ip, 'must be a valid IP address'))
    if (host === '') return errors
    errors.push(...invalidFor(`${at}.hostname`, host, checkSubdomain(host)))
    if (parseIp(host) !== undefined) errors.push(invalidValue(`${at}.hostname`, host, 'must be a DNS name, not an IP address'))
    return errors
  })
}

/** An old client gives the one address only. */
function addressesOf(spec: Part): readonly string[] {
  const addresses = itemsOf<string>(spec, 'clusterIPs')
  const address = textOf(spec, 'clusterIP')
  return addresses.length === 0 && address !== '' ? [address] : addresses
}

function validateType(spec: Part, ports: readonly Part[], addresses: readonly string[]): FieldError[] {
  const type = textOf(spec, 'type')
  const isHeadless = addresses.length === 1 && addresses[0] === 'None'
  const errors: FieldError[] = []
  if (ports.length === 0 && !isHeadless && type !== 'ExternalName') errors.push(requiredValue('spec.ports'))
  switch (type) {
    case 'LoadBalancer':
      for (const [index, { port }] of ports.entries()) {
        if (port !== nodeAgentPort) continue
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

function validatePort(port: Part, at: string, needsName: boolean, names: Set<string>): FieldError[] {
  const errors: FieldError[] = []
  const name = textOf(port, 'name')
  if (name === '' && needsName) errors.push(requiredValue(`${at}.name`))
  if (name !== '') {
    errors.push(...invalidFor(`${at}.name`, name, checkLabel(name)))
    if (names.has(name)) errors.push(duplicateValue(`${at}.name`, name))
    names.add(name)
  }
  errors.push(...invalidFor(`${at}.port`, port['port'], checkPortNumber(Number(port['port']))), ...validateProtocol(port, at))
  const target = port['targetPort']
  if (typeof target === 'string') errors.push(...invalidFor(`${at}.targetPort`, target, checkPortName(target)))
  if (typeof target === 'number') errors.push(...invalidFor(`${at}.targetPort`, target, checkPortNumber(target)))
  return [...errors, ...validateAppProtocol(port, at)]
}

/** A port's protocol, which defaulting has filled in unless it was given as an empty text. */
export function validateProtocol(port: Part, at: string): FieldError[] {
  const protocol = textOf(port, 'protocol')
  if (protocol === '') return [requiredValue(`${at}.protocol`)]
  return portProtocols.includes(protocol) ? [] : [unsupportedValue(`${at}.protocol`, protocol, portProtocols)]
}

/** The protocol that is spoken on a port, if it is named. */
export function validateAppProtocol(port: Part, at: string): FieldError[] {
  const protocol = port['appProtocol']
  return typeof protocol === 'string' ? invalidFor(`${at}.appProtocol`, protocol, checkQualifiedName(protocol)) : []
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

function validateAddresses(spec: Part, addresses: readonly string[], isHeadless: boolean, before: Part | undefined): FieldError[] {
  if (textOf(spec, 'type') === 'ExternalName') return []
  const errors = [...validateFirstAddress(spec, addresses, before), ...validateFamilies(spec)]
  const wrong = addresses.flatMap((address, index) => {
    if (index === 0 && address === 'None') {
      return addresses.length > 1 ? [invalidTexts('spec.clusterIPs', addresses, "'None' must be the first and only value")] : []
    }
    return invalidFor(`spec.clusterIPs[${index}]`, address, checkIp(address))
  })
  errors.push(...wrong)
  if (addresses.length > 2) errors.push(invalidTexts('spec.clusterIPs', addresses, 'may only hold up to 2 values'))
  if (wrong.length > 0) return errors
  if (addresses.length > 1 && new Set(addresses.map(ipFamilyOf)).size < addresses.length) {
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

/** A change of one of the two fields alone is a change of both; the allocator of addresses validates it. */
function validateFirstAddress(spec: Part, addresses: readonly string[], before: Part | undefined): FieldError[] {
  const address = textOf(spec, 'clusterIP')
  if (before !== undefined && isSame(itemsOf(spec, 'clusterIPs'), itemsOf(before, 'clusterIPs'))) return []
  if (address === '') {
    return addresses.length === 0 ? [] : [invalidTexts('spec.clusterIPs', addresses, 'must be empty when `clusterIP` is not specified')]
  }
  return addresses[0] === address ? [] : [invalidTexts('spec.clusterIPs', addresses, 'first value must match `clusterIP`')]
}

function validateFamilies(spec: Part): FieldError[] {
  const families = itemsOf<string>(spec, 'ipFamilies')
  const repeated = repeatedPlaces(families)
  const errors = families.flatMap((family, index) => {
    const field = `spec.ipFamilies[${index}]`
    const found = ['IPv4', 'IPv6'].includes(family) ? [] : [unsupportedValue(field, family, ['IPv4', 'IPv6'])]
    return repeated.has(index) ? [...found, duplicateValue(field, family)] : found
  })
  const policy = textOf(spec, 'ipFamilyPolicy')
  const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack']
  return policy === '' || policies.includes(policy) ? errors : [...errors, unsupportedValue('spec.ipFamilyPolicy', policy, policies)]
}

/** What no single port tells: ports of nodes on the wrong type, and ports that are there twice. */
function validatePortsTogether(ports: readonly Part[], type: string): FieldError[] {
  const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
  const errors = types.includes(type) ? [] : [unsupportedValue('spec.type', type, types)]
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
}

/** Whom a balancer lets in: a field says it, or the annotation of old. */
function rangesOf(service: Part, names: Names): SourceRanges | undefined {
  const ranges = itemsOf<string>(partOf(service, 'spec'), 'loadBalancerSourceRanges')
  if (ranges.length > 0) return { field: 'spec.LoadBalancerSourceRanges', printed: `[${ranges.join(' ')}]`, ranges }
  const annotation = subdomainLabel(names, 'service.beta', 'load-balancer-source-ranges')
  const text = partOf(partOf(service, 'metadata'), 'annotations')[annotation]
  if (typeof text !== 'string') return undefined
  return { field: `metadata.annotations[${annotation}]`, printed: text, ranges: text.trim() === '' ? [] : text.split(',') }
}

function validateBalancer(spec: Part, before: Part | undefined, ranges: SourceRanges | undefined): FieldError[] {
  const isBalancer = textOf(spec, 'type') === 'LoadBalancer'
  const onlyForBalancers = "may only be used when `type` is 'LoadBalancer'"
  const errors = ranges === undefined ? [] : validateSourceRanges(ranges, isBalancer ? undefined : onlyForBalancers)
  if (!isBalancer && spec['allocateLoadBalancerNodePorts'] != null) {
    errors.push(forbiddenValue('spec.allocateLoadBalancerNodePorts', onlyForBalancers))
  }
  const name = spec['loadBalancerClass']
  if (isBalancer && before !== undefined && textOf(before, 'type') === 'LoadBalancer') {
    if (!isSame(name, before['loadBalancerClass']))
      errors.push(invalidValue('spec.loadBalancerClass', name ?? 'null', 'may not change once set'))
  }
  if (typeof name !== 'string') return errors
  if (!isBalancer) return [...errors, forbiddenValue('spec.loadBalancerClass', onlyForBalancers)]
  return [...errors, ...invalidFor('spec.loadBalancerClass', name, checkQualifiedName(name))]
}

function validateSourceRanges({ field, printed, ranges }: SourceRanges, refusal: string | undefined): FieldError[] {
  const errors = refusal === undefined ? [] : [forbiddenValue(field, refusal)]
  if (ranges.every((range) => cidrFamilyOf(range.trim()) !== undefined)) return errors
  return [...errors, invalidValue(field, printed, 'must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ')]
}

function validateHealthPortChange(spec: Part, before: Part | undefined): FieldError[] {
  if (before === undefined || !hasHealthPort(spec) || !hasHealthPort(before)) return []
  const [port, portBefore] = [Number(spec['healthCheckNodePort'] ?? 0), Number(before['healthCheckNodePort'] ?? 0)]
  return port === 0 || portBefore === 0 || port === portBefore ? [] : [forbiddenValue('spec.healthCheckNodePort', 'field is immutable')]
}

const trafficPolicies = ['Cluster', 'Local']

function validateTrafficPolicy(spec: Part): FieldError[] {
  const type = textOf(spec, 'type')
  const policy = textOf(spec, 'externalTrafficPolicy')
  const errors: FieldError[] = []
  if (policy !== '') {
    if (type !== 'NodePort' && type !== 'LoadBalancer') {
      errors.push(invalidValue('spec.externalTrafficPolicy', policy, "may only be set when `type` is 'NodePort' or 'LoadBalancer'"))
    } else if (!trafficPolicies.includes(policy)) {
      errors.push(unsupportedValue('spec.externalTrafficPolicy', policy, trafficPolicies))
    }
  }
  const inner = textOf(spec, 'internalTrafficPolicy')
  if (isGiven(spec, 'internalTrafficPolicy') && !trafficPolicies.includes(inner)) {
    errors.push(unsupportedValue('spec.internalTrafficPolicy', inner, trafficPolicies))
  }
  const healthPort = Number(spec['healthCheckNodePort'] ?? 0)
  if (healthPort === 0) return errors
  if (type === 'LoadBalancer' && policy === 'Local') {
    return [...errors, ...invalidFor('spec.healthCheckNodePort', healthPort, checkPortNumber(healthPort))]
  }
  return [
    ...errors,
    invalidValue(
      'spec.healthCheckNodePort',
      healthPort,
      "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
    ),
  ]
}
