import { memo } from '@orch/cel/memo'
import { isWholeQuantity, parseQuantity } from '../../meta/quantity.ts'
import { type Names, subdomainLabel } from '../../names.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { appArmorPrefix, appArmorWarning, profileOfAnnotation } from '../app-armor.ts'
import { isGiven } from '../validation/checks.ts'
import { containersOf } from '../validation/pod/platform.ts'
import { warningsOfIp } from './address-warnings.ts'
import { formerNodeLabels, type Release, warningsOfNodeTerm, warningsOfPreference } from './node-label-warnings.ts'
import { warningsOfVolumes } from './volume-warnings.ts'

/** The warnings about a new Pod. */
export function warningsOfPod(pod: Part, names: Names, level: number): string[] {
  return warningsOfTemplate(pod, '', { names, level })
}

/** The first level that warns about AppArmor annotations of templates. For Pods, the warning is made when the annotations are copied to fields. */
const appArmorWarnedSince = 30

/** The warnings about a Pod template at a path, in kube-apiserver's order. Usually there are none. */
export function warningsOfTemplate(template: Part, path: string, { names, level }: Release): string[] {
  const prefix = path === '' ? '' : `${path}.`
  const spec = partOf(template, 'spec')
  const annotations = partOf(partOf(template, 'metadata'), 'annotations')
  const at = { spec: `${prefix}spec`, annotations: `${prefix}metadata.annotations` }
  const said = [
    ...ofNodeLabels(spec, at.spec, { names, level }),
    ...ofFormerAnnotations(annotations, at.annotations, names),
    ...warningsOfVolumes(spec, `${at.spec}.volumes`, level),
    ...repeated(itemsOf(spec, 'hostAliases'), 'ip', `${at.spec}.hostAliases`),
    ...repeated(itemsOf(spec, 'imagePullSecrets'), 'name', `${at.spec}.imagePullSecrets`),
    ...ofNamelessSecrets(spec, `${at.spec}.imagePullSecrets`),
    ...ofBytes(partOf(spec, 'overhead'), `${at.spec}.overhead`),
    ...ofSeccomp(spec, { annotations, path: at.annotations, key: `${seccompDomain(names)}/pod` }, level),
  ]
  for (const [container, place] of containersOf(spec, at.spec)) {
    said.push(...ofContainer(container, place, { annotations, path: at.annotations, names, level }))
    if (path !== '' && level >= appArmorWarnedSince) {
      said.push(...ofAppArmor(container, spec, { annotations, path: at.annotations, names }))
    }
  }
  if (level >= selectorsWarnedSince) said.push(...ofPorts(spec, at.spec, level))
  if (level >= clearerSince) said.push(...ofGracePeriod(spec, at.spec))
  if (level >= selectorsWarnedSince) said.push(...ofAffinities(spec, at.spec))
  if (level >= addressesWarnedSince) said.push(...ofAddresses(spec, at.spec, level))
  return said
}

/**
 * The first level that warns about negative times, and whose warning states that profiles in annotations have no effect.
 */
const clearerSince = 27
/** The first level that warns about missing selectors, about ports, and about a duplicate variable only if it hides an earlier one. */
const selectorsWarnedSince = 28
const hidingExplainedSince = 30
const addressesWarnedSince = 33

/** A variable may refer to an earlier one with the same name. */
function ofVariables(variables: readonly Part[], path: string, level: number): readonly string[] {
  if (level < selectorsWarnedSince) return repeated(variables, 'name', path)
  const seen = new Set<string>()
  return variables.flatMap((variable, index) => {
    const [name, value] = [textOf(variable, 'name'), textOf(variable, 'value')]
    const isKnown = seen.has(name)
    seen.add(name)
    const reference = `$(${name})`
    if (!isKnown || (!isGiven(variable, 'valueFrom') && value !== reference && value.includes(reference))) return []
    const effect = level < hidingExplainedSince ? '' : ', which may be dropped when using apply'
    return [`${path}[${index}]: hides previous definition of ${JSON.stringify(name)}${effect}`]
  })
}

interface PlacedPort {
  readonly port: Part
  readonly place: string
}

/** Warns about ports of any container with the same number and protocol, or the same name, which Services or the node cannot tell apart. */
function ofPorts(spec: Part, path: string, level: number): string[] {
  const said: string[] = []
  const saidOfNames: string[] = []
  const places = new Map<string, string>()
  const known = new Map<string, PlacedPort[]>()
  for (const [container, at] of containersOf(spec, path)) {
    for (const [index, port] of itemsOf(container, 'ports').entries()) {
      const key = `${String(port['containerPort'])}/${textOf(port, 'protocol')}`
      const place = `${at}.ports[${index}]`
      const others = known.get(key) ?? []
      said.push(...ofNodePort(port, place))
      for (const other of others) said.push(...ofSamePort(port, place, other))
      known.set(key, [...others, { port, place }])
      const name = textOf(port, 'name')
      const first = places.get(name)
      if (name !== '' && first === undefined) places.set(name, place)
      if (first !== undefined) saidOfNames.push(ofSameName(name, place, first))
    }
  }
  return level >= addressesWarnedSince ? [...said, ...saidOfNames] : said
}

/** A host address has no effect without a host port. The message prints the port like Go. */
function ofNodePort(port: Part, place: string): string[] {
  const ip = textOf(port, 'hostIP')
  if (ip === '' || (port['hostPort'] ?? 0) !== 0) return []
  const shown = `Name:${textOf(port, 'name')} HostPort:0 ContainerPort:${String(port['containerPort'])} Protocol:${textOf(port, 'protocol')}`
  return [`${place}: hostIP set without hostPort: {${shown} HostIP:${ip}}`]
}

function ofSameName(name: string, place: string, first: string): string {
  return `${place}: duplicate port name ${JSON.stringify(name)} with ${first}, services and probes that select ports by name will use ${first}`
}

function ofGracePeriod(spec: Part, path: string): string[] {
  if (Number(spec['terminationGracePeriodSeconds'] ?? 0) >= 0) return []
  return [`${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
}

/** An affinity term without a selector matches no Pod. */
function ofAffinities(spec: Part, path: string): string[] {
  return ['podAffinity', 'podAntiAffinity'].flatMap((name) => {
    const [affinity, at] = [partOf(partOf(spec, 'affinity'), name), `${path}.affinity.${name}`]
    return [
      ...itemsOf(affinity, required).flatMap((term, index) => ofSelector(term, `${at}.${required}[${index}]`)),
      ...itemsOf(affinity, preferred).flatMap((term, index) =>
        ofSelector(partOf(term, 'podAffinityTerm'), `${at}.${preferred}[${index}].podAffinityTerm`),
      ),
    ]
  })
}

function ofSelector(holder: Part, path: string): string[] {
  return isGiven(holder, 'labelSelector') ? [] : [`${path}.labelSelector: a null labelSelector results in matching no pod`]
}

function ofSamePort(port: Part, place: string, other: PlacedPort): string[] {
  const [ip, otherIp] = [textOf(port, 'hostIP'), textOf(other.port, 'hostIP')]
  const [host, otherHost] = [port['hostPort'] ?? 0, other.port['hostPort'] ?? 0]
  if (ip === otherIp && host === otherHost) return [`${place}: duplicate port definition with ${other.place}`]
  if (host === 0 || otherHost === 0) return [`${place}: overlapping port definition with ${other.place}`]
  const isAmbiguous = host === otherHost && (ip === '') !== (otherIp === '')
  return isAmbiguous ? [`${place}: dangerously ambiguous port definition with ${other.place}`] : []
}

function ofAddresses(spec: Part, path: string, level: number): string[] {
  const servers = itemsOf<string>(partOf(spec, 'dnsConfig'), 'nameservers')
  return [
    ...servers.flatMap((server, index) => warningsOfIp(server, `${path}.dnsConfig.nameservers[${index}]`, level)),
    ...itemsOf(spec, 'hostAliases').flatMap((alias, index) => warningsOfIp(textOf(alias, 'ip'), `${path}.hostAliases[${index}].ip`, level)),
  ]
}

interface PodAnnotations {
  readonly annotations: Part
  readonly path: string
  readonly names: Names
}

function ofContainer(container: Part, at: string, { annotations, path, names, level }: PodAnnotations & Release): string[] {
  const key = `container.${seccompDomain(names)}/${textOf(container, 'name')}`
  const ofProfile = ofSeccomp(container, { annotations, path, key }, level)
  const ofResources = ofAmounts(partOf(container, 'resources'), `${at}.resources`)
  return [...ofProfile, ...ofResources, ...ofVariables(itemsOf(container, 'env'), `${at}.env`, level)]
}

/** Warns if the annotation is set and the field is not. */
function ofAppArmor(container: Part, spec: Part, { annotations, path, names }: PodAnnotations): string[] {
  const key = appArmorPrefix(names) + textOf(container, 'name')
  if (!isGiven(annotations, key) || isGiven(partOf(container, 'securityContext'), 'appArmorProfile')) return []
  const ofPod = optionalPart(optionalPart(spec, 'securityContext'), 'appArmorProfile')
  const isSaid = ofPod !== undefined && isSame(ofPod, profileOfAnnotation(textOf(annotations, key)))
  return isSaid ? [] : [appArmorWarning(path, key)]
}

const [required, preferred] = ['requiredDuringSchedulingIgnoredDuringExecution', 'preferredDuringSchedulingIgnoredDuringExecution'] as const

/** The warnings about deprecated node labels in selectors and spread constraints. */
function ofNodeLabels(spec: Part, path: string, { names, level }: Release): string[] {
  const messages = formerNodeLabels(names)
  const said: string[] = []
  for (const key in partOf(spec, 'nodeSelector')) {
    if (Object.hasOwn(messages, key)) said.push(`${path}.nodeSelector[${key}]: ${messages[key]}`)
  }
  const affinity = partOf(partOf(spec, 'affinity'), 'nodeAffinity')
  const at = `${path}.affinity.nodeAffinity`
  for (const [index, term] of itemsOf(partOf(affinity, required), 'nodeSelectorTerms').entries()) {
    said.push(...warningsOfNodeTerm(term, `${at}.${required}.nodeSelectorTerms[${index}]`, names))
  }
  for (const [index, term] of itemsOf(affinity, preferred).entries()) {
    said.push(...warningsOfPreference(partOf(term, 'preference'), `${at}.${preferred}[${index}].preference`, { names, level }))
  }
  for (const [index, constraint] of itemsOf(spec, 'topologySpreadConstraints').entries()) {
    const key = textOf(constraint, 'topologyKey')
    const field = `${path}.topologySpreadConstraints[${index}]`
    if (Object.hasOwn(messages, key)) said.push(`${field}.topologyKey: ${key} is ${messages[key]}`)
    if (level >= selectorsWarnedSince) said.push(...ofSelector(constraint, field))
  }
  return said
}

/** Deprecated annotations of Pods, with or without a field that replaces them. */
const formerAnnotations = memo((names: Names): readonly { readonly key: string; readonly message: string }[] => {
  const useSysctls = 'non-functional in v1.11+; use the "sysctls" field instead'
  const made = [
    {
      key: subdomainLabel(names, 'scheduler.alpha', 'critical-pod'),
      message: 'non-functional in v1.16+; use the "priorityClassName" field instead',
    },
    { key: subdomainLabel(names, 'security.alpha', 'sysctls'), message: useSysctls },
    { key: subdomainLabel(names, 'security.alpha', 'unsafe-sysctls'), message: useSysctls },
  ]
  return made
})

function ofFormerAnnotations(annotations: Part, path: string, names: Names): string[] {
  const said: string[] = []
  for (const { key, message } of formerAnnotations(names)) if (isGiven(annotations, key)) said.push(`${path}[${key}]: ${message}`)
  return said
}

const nothing: readonly never[] = []

/** Warns about each item whose field has the same text as that of an earlier item. */
function repeated(items: readonly Part[], name: string, path: string): readonly string[] {
  if (items.length < 2) return nothing
  const seen = new Set<string>()
  const said: string[] = []
  for (const [index, item] of items.entries()) {
    const text = textOf(item, name)
    if (seen.has(text)) said.push(`${path}[${index}].${name}: duplicate ${name} ${JSON.stringify(text)}`)
    seen.add(text)
  }
  return said
}

function ofNamelessSecrets(spec: Part, path: string): string[] {
  return itemsOf(spec, 'imagePullSecrets').flatMap((secret, index) =>
    textOf(secret, 'name') === '' ? [`${path}[${index}].name: invalid empty name ""`] : [],
  )
}

const bytesResources = ['memory', 'ephemeral-storage']

function ofAmounts(resources: Part, path: string): string[] {
  const said: string[] = []
  for (const resource of bytesResources) {
    for (const list of ['limits', 'requests']) said.push(...ofBytes(partOf(resources, list), `${path}.${list}`, [resource]))
  }
  return said
}

/** Warns about fractions of a byte. */
function ofBytes(amounts: Part, path: string, resources: readonly string[] = bytesResources): string[] {
  const said: string[] = []
  for (const resource of resources) {
    const text = textOf(amounts, resource)
    const quantity = text === '' ? undefined : parseQuantity(text)
    if (quantity === undefined || isWholeQuantity(quantity)) continue
    said.push(`${path}[${resource}]: fractional byte value ${JSON.stringify(text)} is invalid, must be an integer`)
  }
  return said
}

/** Warns if an annotation is set and the field that replaces it is not. */
function ofSeccomp(holder: Part, { annotations, path, key }: { annotations: Part; path: string; key: string }, level: number): string[] {
  if (!isGiven(annotations, key) || isGiven(partOf(holder, 'securityContext'), 'seccompProfile')) return []
  const state = level >= clearerSince ? 'non-functional in v1.27+' : 'deprecated since v1.19, non-functional in a future release'
  return [`${path}[${key}]: ${state}; use the "seccompProfile" field instead`]
}

function seccompDomain(names: Names): string {
  return `seccomp.security.alpha.${names.labelDomain}`
}
