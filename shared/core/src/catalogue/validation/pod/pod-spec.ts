import type { FieldError } from '../../../meta/status.ts'
import { checkSubdomain } from '../../../meta/validate-names.ts'
import { invalidValue, requiredValue } from '../../../validation/field-errors.ts'
import { parseIp } from '../../../validation/ip-address.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../../validation/part.ts'
import type { RuleContext, TypeRules } from '../../../validation/rule-book.ts'
import { numberOf, requireOneOf } from '../checks.ts'
import { validateAllContainers } from './containers.ts'
import { validateHostProcesses, validateOperatingSystem } from './platform.ts'
import { PodContext } from './pod-context.ts'
import { validatePodResources } from './pod-resources.ts'
import { validateResourceClaims } from './resource-claims.ts'
import { validateResources } from './resources.ts'
import { refuseSameSpread } from './scheduling.ts'
import { validateSchedulingGates } from './scheduling-gates.ts'
import { validateSharing } from './security.ts'
import { validateVolumes } from './volumes.ts'

const nameserversMax = 3
const searchPathsMax = 6
const searchLengthMax = 256

/** A Pod's spec, in a Pod or in a template. */
export const podSpecRules: Readonly<Record<string, TypeRules>> = {
  'core/v1.PodSpec': [
    { passedOver: ['volumes', 'resourceClaims', 'containers', 'initContainers', 'ephemeralContainers', 'resources'] },
    validateParts,
    ...['restartPolicy', 'dnsPolicy', 'nodeSelector'],
    validateSharing,
    ...['securityContext', 'affinity'],
    validateDnsConfig,
    'readinessGates',
    validateSchedulingGates,
    'topologySpreadConstraints',
    refuseSameSpread,
    validateHostProcesses,
    ...['serviceAccountName', 'nodeName', 'activeDeadlineSeconds', 'hostname', 'subdomain', 'tolerations'],
    validateHostAliases,
    ...['priorityClassName', 'runtimeClassName'],
    validatePreemption,
    (errors, spec, at) => validateResources(errors, { limits: spec['overhead'] }, `${at}.overhead`),
    { passedOver: ['preemptionPolicy', 'os'] },
    validateOperatingSystem,
  ],
}

/** Volumes, and the containers that mount them. */
function validateParts(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  // A template has no name; only a Pod's own spec is here.
  const pod = new PodContext(context, at === 'spec' ? textOf(partOf(context.object, 'metadata'), 'name') : '')
  pod.volumes = validateVolumes(errors, itemsOf(spec, 'volumes'), `${at}.volumes`, pod)
  pod.claims = validateResourceClaims(errors, spec, at, pod)
  pod.hasOwnUsers = spec['hostUsers'] === false
  pod.graceSeconds = numberOf(spec, 'terminationGracePeriodSeconds')
  validateAllContainers(errors, spec, at, pod)
  validatePodResources(errors, spec, at, pod)
}

function validatePreemption(errors: FieldError[], spec: Part, at: string): void {
  if (spec['preemptionPolicy'] !== undefined) {
    requireOneOf(errors, { part: spec, name: 'preemptionPolicy', at }, ['PreemptLowerPriority', 'Never'])
  }
}

function validateDnsConfig(errors: FieldError[], spec: Part, at: string): void {
  const path = `${at}.dnsConfig`
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

/** kube-apiserver blames the list. */
function validateHostAliases(errors: FieldError[], spec: Part, at: string): void {
  for (const alias of itemsOf(spec, 'hostAliases')) {
    const address = textOf(alias, 'ip')
    if (parseIp(address) === undefined) errors.push(invalidValue(`${at}.hostAliases.ip`, address, 'must be valid IP address'))
    for (const hostname of itemsOf<string>(alias, 'hostnames')) {
      for (const problem of checkSubdomain(hostname)) errors.push(invalidValue(`${at}.hostAliases.hostnames`, hostname, problem))
    }
  }
}
