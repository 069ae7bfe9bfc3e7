import type { FieldError } from '../../../meta/status.ts'
import { checkLabel, checkSubdomain } from '../../../meta/validate-names.ts'
import { invalidFor, invalidValue, requiredValue } from '../../../validation/field-errors.ts'
import { parseIp } from '../../../validation/ip-address.ts'
import { itemsOf, optionalPart, type Part, textOf } from '../../../validation/part.ts'
import { validateLabelKey, validateLabelMap } from '../../../validation/selector.ts'
import { allowBetween, allowChecked, requireOneOf } from '../checks.ts'
import { validateAllContainers } from './containers.ts'
import { validateHostProcesses, validateOperatingSystem } from './platform.ts'
import { validateResources } from './resources.ts'
import { validateAffinity, validateSpread, validateTolerations } from './scheduling.ts'
import { validatePodSecurity } from './security.ts'
import { validateVolumes } from './volumes.ts'

const restartPolicies = ['Always', 'OnFailure', 'Never']
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']
const nameserversMax = 3
const searchPathsMax = 6
const searchLengthMax = 256

export interface PodContext {
  /** Name of the Pod, once it has one. */
  readonly podName?: string
}

/** A Pod's spec, in a Pod or in a template, in the order in which mistakes are reported. */
export function validatePodSpec(errors: FieldError[], spec: Part, path: string, { podName = '' }: PodContext = {}): void {
  const volumes = validateVolumes(errors, itemsOf(spec, 'volumes'), `${path}.volumes`, podName)
  validateAllContainers(errors, spec, volumes, path)
  requireOneOf(errors, { part: spec, name: 'restartPolicy', at: path }, restartPolicies)
  requireOneOf(errors, { part: spec, name: 'dnsPolicy', at: path }, dnsPolicies)
  if (spec['nodeSelector'] !== undefined) errors.push(...validateLabelMap(spec, 'nodeSelector', `${path}.nodeSelector`))
  validatePodSecurity(errors, spec, path)
  validateAffinity(errors, optionalPart(spec, 'affinity'), `${path}.affinity`)
  validateDnsConfig(errors, spec, `${path}.dnsConfig`)
  for (const [index, gate] of itemsOf(spec, 'readinessGates').entries()) {
    errors.push(...validateLabelKey(textOf(gate, 'conditionType'), `${path}.readinessGates[${index}].conditionType`))
  }
  validateSpread(errors, itemsOf(spec, 'topologySpreadConstraints'), `${path}.topologySpreadConstraints`)
  validateHostProcesses(errors, spec, path)
  validateIdentity(errors, spec, path)
  validateTolerations(errors, itemsOf(spec, 'tolerations'), `${path}.tolerations`)
  for (const alias of itemsOf(spec, 'hostAliases')) validateHostAlias(errors, alias, `${path}.hostAliases`)
  allowChecked(errors, { part: spec, name: 'priorityClassName', at: path }, checkSubdomain)
  const runtime = spec['runtimeClassName']
  if (typeof runtime === 'string') errors.push(...invalidFor(`${path}.runtimeClassName`, runtime, checkSubdomain(runtime)))
  if (spec['preemptionPolicy'] !== undefined)
    requireOneOf(errors, { part: spec, name: 'preemptionPolicy', at: path }, ['PreemptLowerPriority', 'Never'])
  const overhead = optionalPart(spec, 'overhead')
  if (overhead !== undefined) validateResources(errors, { limits: overhead }, `${path}.overhead`)
  validateOperatingSystem(errors, spec, path)
}

/** Who the Pod is, where it is, and how long it may run. */
function validateIdentity(errors: FieldError[], spec: Part, path: string): void {
  for (const name of ['serviceAccountName', 'nodeName']) allowChecked(errors, { part: spec, name, at: path }, checkSubdomain)
  allowBetween(errors, { part: spec, name: 'activeDeadlineSeconds', at: path }, { min: 1, max: 2 ** 31 - 1 })
  for (const name of ['hostname', 'subdomain']) allowChecked(errors, { part: spec, name, at: path }, checkLabel)
}

function validateDnsConfig(errors: FieldError[], spec: Part, path: string): void {
  const config = optionalPart(spec, 'dnsConfig')
  const servers = itemsOf<string>(config, 'nameservers')
  if (textOf(spec, 'dnsPolicy') === 'None' && servers.length === 0) {
    const missing =
      config === undefined
        ? requiredValue(path, 'must provide `dnsConfig` when `dnsPolicy` is None')
        : requiredValue(`${path}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None')
    errors.push(missing)
    return
  }
  if (config === undefined) return
  if (servers.length > nameserversMax) {
    errors.push(invalidValue(`${path}.nameservers`, servers, `must not have more than ${nameserversMax} nameservers`))
  }
  for (const [index, server] of servers.entries()) {
    if (parseIp(server) === undefined) errors.push(invalidValue(`${path}.nameservers[${index}]`, server, 'must be valid IP address'))
  }
  validateSearches(errors, itemsOf<string>(config, 'searches'), `${path}.searches`)
  for (const [index, option] of itemsOf(config, 'options').entries()) {
    if (textOf(option, 'name') === '') errors.push(requiredValue(`${path}.options[${index}]`, 'must not be empty'))
  }
}

function validateSearches(errors: FieldError[], searches: readonly string[], path: string): void {
  if (searches.length > searchPathsMax) {
    errors.push(invalidValue(path, searches, `must not have more than ${searchPathsMax} search paths`))
  }
  if (searches.join(' ').length > searchLengthMax) {
    const detail = `must not have more than ${searchLengthMax} characters (including spaces) in the search list`
    errors.push(invalidValue(path, searches, detail))
  }
  for (const [index, search] of searches.entries()) {
    const name = search.replace(/\.$/, '')
    for (const problem of checkSubdomain(name)) errors.push(invalidValue(`${path}[${index}]`, name, problem))
  }
}

function validateHostAlias(errors: FieldError[], alias: Part, path: string): void {
  const address = textOf(alias, 'ip')
  if (parseIp(address) === undefined) errors.push(invalidValue(`${path}.ip`, address, 'must be valid IP address'))
  for (const hostname of itemsOf<string>(alias, 'hostnames')) {
    for (const problem of checkSubdomain(hostname)) errors.push(invalidValue(`${path}.hostnames`, hostname, problem))
  }
}
