import { checkDnsName, checkLabel, checkSubdomain, type FieldError } from '../../../meta/index.ts'
import { duplicateValue, forbiddenValue, invalidFor, invalidValue, requiredValue, tooLongValue } from '../../../validation/field-errors.ts'
import { parseIp, validateLegacyIp } from '../../../validation/ip-address.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf, textsOf } from '../../../validation/part.ts'
import { liveAt, type PartRule, type RuleContext, type TypeRules } from '../../../validation/rule-book.ts'
import { bytesOf } from '../../../validation/texts.ts'
import { addressesChecked, isGiven, notFoundValue, numberOf, onceForShared, requireChecked, requireOneOf } from '../checks.ts'
import { validateAllContainers } from './containers.ts'
import { containersOf, validateHostProcesses, validateOperatingSystem } from './platform.ts'
import { createPodContext, type PodContext, type Volumes } from './pod-context.ts'
import { validatePodResources } from './pod-resources.ts'
import { validateResourceClaims } from './resource-claims.ts'
import { validateResources } from './resources.ts'
import { refuseSameSpread } from './scheduling.ts'
import { validateSchedulingGates } from './scheduling-gates.ts'
import { validateSharing } from './security.ts'

const nameserversMax = 3
/** Maximum number of search paths and of their characters, and the first level with larger limits. */
const searches = { pathsMax: 6, lengthMax: 256 }
const moreSearches = { pathsMax: 32, lengthMax: 2048 }
const moreSearchesSince = 26

/** The spec of a Pod or of a Pod template. */
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
    validateHostname,
    ...['serviceAccountName', 'nodeName', 'activeDeadlineSeconds', 'hostname', 'subdomain', 'tolerations'],
    validateHostAliases,
    ...['priorityClassName', 'runtimeClassName'],
    validatePreemption,
    (errors, spec, at) => validateResources(errors, { limits: spec['overhead'] }, `${at}.overhead`),
    { passedOver: ['preemptionPolicy', 'os'] },
    validateOperatingSystem,
    validateFileKeys,
  ],
}

const ofType: PartRule = (errors, spec, at, context) => context.rules.of('core/v1.PodSpec')(errors, spec, at, context)
const [onceInPods, onceInTemplates] = [onceForShared(ofType), onceForShared(ofType)]

/** Validates the spec of a Pod or of a template. Only names of volumes' claims depend on the Pod's name. */
export const validateSpec: PartRule = (errors, spec, at, context) => {
  const once = at === 'spec' ? onceInPods : onceInTemplates
  const rule = itemsOf(spec, 'volumes').some((volume) => isGiven(volume, 'ephemeral')) ? ofType : once
  rule(errors, spec, at, context)
}

/** Validates volumes, and the containers that mount them. */
function validateParts(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  // Only a Pod's own spec is at `spec`; a template has no name.
  const pod = createPodContext(context, at === 'spec' ? textOf(partOf(context.object, 'metadata'), 'name') : '')
  pod.volumes = validateVolumes(errors, itemsOf(spec, 'volumes'), `${at}.volumes`, pod)
  pod.claims = validateResourceClaims(errors, spec, at, pod)
  pod.hasOwnUsers = spec['hostUsers'] === false
  pod.restartPolicy = textOf(spec, 'restartPolicy')
  pod.graceSeconds = numberOf(spec, 'terminationGracePeriodSeconds')
  validateAllContainers(errors, spec, at, pod)
  validatePodResources(errors, spec, at, pod)
}

const hostnameLengthMax = 64

/** `hostnameOverride` excludes other settings of the host name. */
function validateHostname(errors: FieldError[], spec: Part, at: string): void {
  const name = spec['hostnameOverride']
  if (typeof name !== 'string') return
  const path = `${at}.hostnameOverride`
  for (const other of ['setHostnameAsFQDN', 'hostNetwork']) {
    if (spec[other] === true) errors.push(forbiddenValue(path, `may not be specified when ${other} is true`))
  }
  if (bytesOf(name) > hostnameLengthMax) errors.push(tooLongValue(path, hostnameLengthMax))
  errors.push(...invalidFor(path, name, checkSubdomain(name)))
}

/** Files with environment variables must be in emptyDir volumes. */
function validateFileKeys(errors: FieldError[], spec: Part, at: string): void {
  for (const [container, path] of containersOf(spec, at)) {
    for (const [index, variable] of itemsOf(container, 'env').entries()) {
      const reference = optionalPart(optionalPart(variable, 'valueFrom'), 'fileKeyRef')
      if (reference === undefined) continue
      const name = textOf(reference, 'volumeName')
      const field = `${path}.env[${index}].valueFrom.fileKeyRef.volumeName`
      const volume = itemsOf(spec, 'volumes').find((one) => textOf(one, 'name') === name)
      if (volume === undefined) errors.push(notFoundValue(field, name))
      else if (!isGiven(volume, 'emptyDir')) errors.push(invalidValue(field, name, 'referenced volume must be of type emptyDir'))
    }
  }
}

function validatePreemption(errors: FieldError[], spec: Part, at: string): void {
  if (spec['preemptionPolicy'] !== undefined) {
    requireOneOf(errors, { part: spec, name: 'preemptionPolicy', at }, ['PreemptLowerPriority', 'Never'])
  }
}

/** The first level that validates all old address fields, and accepts DNS names of hosts as search paths. */
const [addressRulesSince, dnsNamesSince] = [33, 33]

function validateAddress(text: string, field: string, context: RuleContext, kept: readonly string[]): readonly FieldError[] {
  if (context.level >= addressRulesSince) return validateLegacyIp(text, field, addressesChecked(context, kept))
  return parseIp(text) === undefined ? [invalidValue(field, text, 'must be valid IP address')] : []
}

function validateDnsConfig(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
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
  const keptServers = itemsOf<string>(partOf(liveAt(context, at), 'dnsConfig'), 'nameservers')
  for (const [index, server] of servers.entries()) {
    errors.push(...validateAddress(server, `${path}.nameservers[${index}]`, context, keptServers))
  }
  validateSearches(errors, itemsOf<string>(config, 'searches'), `${path}.searches`, context.level)
  for (const [index, option] of itemsOf(config, 'options').entries()) {
    if (textOf(option, 'name') === '') errors.push(requiredValue(`${path}.options[${index}]`, 'must not be empty'))
  }
}

function validateSearches(errors: FieldError[], given: readonly string[], path: string, level: number): void {
  const { pathsMax, lengthMax } = level < moreSearchesSince ? searches : moreSearches
  if (given.length > pathsMax) {
    errors.push(invalidValue(path, given, `must not have more than ${pathsMax} search paths`))
  }
  if (given.join(' ').length > lengthMax) {
    const detail = `must not have more than ${lengthMax} characters (including spaces) in the search list`
    errors.push(invalidValue(path, given, detail))
  }
  for (const [index, search] of given.entries()) {
    if (search === '.' && level >= dnsNamesSince) continue
    const name = search.replace(/\.$/, '')
    for (const problem of level >= dnsNamesSince ? checkDnsName(name) : checkSubdomain(name))
      errors.push(invalidValue(`${path}[${index}]`, name, problem))
  }
}

/** Before 1.33, kube-apiserver reports the list. */
function validateHostAliases(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  const kept = itemsOf(liveAt(context, at), 'hostAliases').map((alias) => textOf(alias, 'ip'))
  for (const [index, alias] of itemsOf(spec, 'hostAliases').entries()) {
    const isPlaced = context.level >= addressRulesSince
    const path = `${at}.hostAliases${isPlaced ? `[${index}]` : ''}`
    errors.push(...validateAddress(textOf(alias, 'ip'), `${path}.ip`, context, kept))
    for (const [position, hostname] of itemsOf<string>(alias, 'hostnames').entries()) {
      errors.push(...invalidFor(`${path}.hostnames${isPlaced ? `[${position}]` : ''}`, hostname, checkSubdomain(hostname)))
    }
  }
}

/** Validates the volumes of a Pod. Only valid volumes can be mounted. The names of generated claims depend on the Pod's name. */
function validateVolumes(errors: FieldError[], volumes: readonly Part[], path: string, context: PodContext): Volumes {
  const { podName, rules } = context
  const validateSource = rules.of('core/v1.VolumeSource')
  const sound = new Map<string, Part>()
  const made = textsOf(
    volumes.filter((volume) => optionalPart(volume, 'ephemeral') !== undefined),
    'name',
  )
  for (const [index, volume] of volumes.entries()) {
    const at = `${path}[${index}]`
    const name = textOf(volume, 'name')
    const before = errors.length
    validateSource(errors, volume, at, context)
    if (podName !== '' && name !== '' && made.has(name)) errors.push(...validateMadeClaim(`${podName}-${name}`, name, at))
    requireChecked(errors, { part: volume, name: 'name', at }, checkLabel)
    if (sound.has(name)) errors.push(duplicateValue(`${at}.name`, name))
    if (errors.length === before) sound.set(name, volume)
    if (podName !== '') refuseOwnClaim(errors, { volume, at }, { made, prefix: `${podName}-` })
  }
  return sound
}

/** A generated claim is named after its Pod and volume. */
function validateMadeClaim(claim: string, volume: string, at: string): FieldError[] {
  const problems = checkSubdomain(claim).map((problem) => `PVC name ${JSON.stringify(claim)}: ${problem}`)
  return invalidFor(`${at}.name`, volume, problems)
}

/** A generated claim of a Pod must not be named by another volume of that Pod. */
function refuseOwnClaim(
  errors: FieldError[],
  { volume, at }: { readonly volume: Part; readonly at: string },
  { made, prefix }: { readonly made: ReadonlySet<string>; readonly prefix: string },
): void {
  const claim = textOf(optionalPart(volume, 'persistentVolumeClaim'), 'claimName')
  if (!claim.startsWith(prefix) || !made.has(claim.slice(prefix.length))) return
  const detail = 'must not reference a PVC that gets created for an ephemeral volume'
  errors.push(invalidValue(`${at}.persistentVolumeClaim.claimName`, claim, detail))
}
