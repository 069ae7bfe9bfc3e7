import { cannotUnmarshal, isJsonObject } from '../../../json/index.ts'
import { parseExactly } from '../../../json/parse-exactly.ts'
import type { FieldError } from '../../../meta/status.ts'
import { domainLabel, type Names, subdomainLabel } from '../../../names.ts'
import { forbiddenValue, invalidValue } from '../../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf, textsOf } from '../../../validation/part.ts'
import type { RuleContext } from '../../../validation/rule-book.ts'
import { appArmorPrefix, hasAppArmorFields } from '../../app-armor.ts'
import { validateDescendingPath } from './paths.ts'
import { containersOf } from './platform.ts'

const int32Max = 2 ** 31 - 1

/** The annotations of a Pod, or of a Pod template. */
export interface AnnotatedPod {
  readonly annotations: Part
  readonly spec: Part
  /** The path of the annotations, or of the spec. */
  readonly path: string
}

/** Validates annotations that affect the server or a node. */
export function validatePodAnnotations(errors: FieldError[], { annotations, spec, path }: AnnotatedPod, context: RuleContext): void {
  const { names } = context
  const refuse = (key: string, value: unknown, detail: string): void => void errors.push(invalidValue(`${path}[${key}]`, value, detail))
  const mirror = domainLabel(names, 'config.mirror')
  if (annotations[mirror] !== undefined && textOf(spec, 'nodeName') === '') {
    refuse(mirror, annotations[mirror], 'must set spec.nodeName if mirror pod annotation is set')
  }
  validateTolerations(errors, annotations, path, context)
  const cost = subdomainLabel(names, 'controller', 'pod-deletion-cost')
  const amount = annotations[cost]
  if (amount !== undefined && !isInt32(String(amount))) refuse(cost, amount, 'must be a 32bit integer')
  const seccomp = seccompKeys(names)
  for (const key of Object.keys(annotations)) {
    if (key === seccomp.pod || key.startsWith(seccomp.container)) validateSeccomp(errors, String(annotations[key]), `${path}.${key}`)
  }
  const prefix = appArmorPrefix(names)
  const profiles = Object.keys(annotations).filter((key) => key.startsWith(prefix))
  if (profiles.length === 0) return
  const containers = textsOf(
    ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) => itemsOf<Part>(spec, list)),
    'name',
  )
  for (const key of profiles) {
    const container = key.slice(prefix.length)
    if (!containers.has(container)) refuse(key, container, 'container not found')
    const profile = String(annotations[key])
    if (!isProfile(profile)) refuse(key, profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`)
  }
}

/** Annotations that the node reads when it starts a Pod are immutable. */
export function validateAnnotationChange(errors: FieldError[], after: Part, before: Part, names: Names): void {
  if (after === before) return
  const prefix = appArmorPrefix(names)
  const mirror = domainLabel(names, 'config.mirror')
  const refuse = (key: string, how: string): void => {
    const field = `metadata.annotations[${key}]`
    if (key.startsWith(prefix)) errors.push(forbiddenValue(field, `may not ${how} AppArmor annotations`))
    if (key === mirror) errors.push(forbiddenValue(field, `may not ${how} mirror pod annotation`))
  }
  for (const key in before) if (after[key] !== before[key]) refuse(key, 'remove or update')
  for (const key in after) if (!Object.hasOwn(before, key)) refuse(key, 'add')
}

/** Validates the deprecated annotation with tolerations, which no component reads. */
function validateTolerations(errors: FieldError[], annotations: Part, path: string, context: RuleContext): void {
  const key = subdomainLabel(context.names, 'scheduler.alpha', 'tolerations')
  const text = textOf(annotations, key)
  if (text === '') return
  const parsed = parseExactly(text)
  const problem = parsed.kind === 'malformed' ? parsed.problem : findMistyped(parsed.value)
  if (problem !== undefined) errors.push(invalidValue(path, key, problem))
  if (problem !== undefined || parsed.kind === 'malformed') return
  for (const [index, toleration] of itemsOf({ tolerations: parsed.value }, 'tolerations').entries()) {
    context.rules.of('core/v1.Toleration')(errors, toleration, `${path}.${key}[${index}]`, context)
  }
}

/** The first member with a wrong type, as Go reports it. */
function findMistyped(value: unknown): string | undefined {
  if (value === null) return undefined
  if (!Array.isArray(value)) return cannotUnmarshal(value, '[]core.Toleration')
  const other = value.find((one) => one !== null && !isJsonObject(one))
  if (other !== undefined) return cannotUnmarshal(other, 'core.Toleration')
  for (const toleration of value.filter(isJsonObject)) {
    for (const name of ['key', 'operator', 'value', 'effect']) {
      const text = toleration[name]
      if (text == null || typeof text === 'string') continue
      const member = `Toleration.${name.charAt(0).toUpperCase()}${name.slice(1)}`
      return cannotUnmarshal(text, 'string', member)
    }
  }
  return undefined
}

/** The seccomp annotation of a Pod, and the prefix of those of its containers. */
function seccompKeys(names: Names): { readonly pod: string; readonly container: string } {
  const at = (subdomain: string, name: string): string => subdomainLabel(names, subdomain, name)
  return { pod: at('seccomp.security.alpha', 'pod'), container: at('container.seccomp.security.alpha', '') }
}

const localhost = 'localhost/'
const runtimeProfiles = ['runtime/default', 'docker/default']

function validateSeccomp(errors: FieldError[], profile: string, path: string): void {
  if (profile === 'unconfined' || runtimeProfiles.includes(profile)) return
  if (profile.startsWith(localhost)) validateDescendingPath(errors, profile.slice(localhost.length), path)
  else errors.push(invalidValue(path, profile, 'must be a valid seccomp profile'))
}

/** Annotations with the profiles of a Pod and its containers must agree with the fields. */
export function validateProfilesMatch(errors: FieldError[], pod: AnnotatedPod, context: RuleContext): void {
  const { annotations, spec, path } = pod
  const { pod: ofPod, container: ofContainer } = seccompKeys(context.names)
  const holders: (readonly [holder: Part, at: string, key: string])[] = [[spec, path, ofPod]]
  for (const [container, at] of containersOf(spec, path)) holders.push([container, at, ofContainer + textOf(container, 'name')])
  for (const [holder, at, key] of holders) {
    const profile = optionalPart(optionalPart(holder, 'securityContext'), 'seccompProfile')
    if (profile !== undefined)
      refuseOther(errors, annotations[key], { profile, at: `${at}.securityContext.seccompProfile`, kind: 'seccomp' })
  }
  if (hasAppArmorFields(context)) validateAppArmorMatch(errors, pod, context.names)
}

/** A container without a profile uses that of its Pod. */
function validateAppArmorMatch(errors: FieldError[], { annotations, spec, path }: AnnotatedPod, names: Names): void {
  if (textOf(optionalPart(spec, 'os'), 'name') === 'windows') return
  const ofPod = optionalPart(optionalPart(spec, 'securityContext'), 'appArmorProfile')
  const prefix = appArmorPrefix(names)
  for (const [container, at] of containersOf(spec, path)) {
    const profile = optionalPart(partOf(container, 'securityContext'), 'appArmorProfile') ?? ofPod
    const annotation = annotations[prefix + textOf(container, 'name')]
    if (profile !== undefined) refuseOther(errors, annotation, { profile, at: `${at}.securityContext.appArmorProfile`, kind: 'apparmor' })
  }
}

interface PlacedProfile {
  readonly profile: Part
  readonly at: string
  readonly kind: 'seccomp' | 'apparmor'
}

function refuseOther(errors: FieldError[], annotation: unknown, { profile, at, kind }: PlacedProfile): void {
  if (typeof annotation !== 'string') return
  const [type, name] = [textOf(profile, 'type'), profile['localhostProfile']]
  if (type !== '' && typeOf(annotation, kind) !== type) {
    errors.push(forbiddenValue(`${at}.type`, `${kind} type in annotation and field must match`))
  } else if (type === 'Localhost' && annotation !== localhost + String(name)) {
    errors.push(forbiddenValue(`${at}.localhostProfile`, `${kind} profile in annotation and field must match`))
  }
}

function typeOf(annotation: string, kind: PlacedProfile['kind']): string | undefined {
  if (annotation.startsWith(localhost)) return 'Localhost'
  if (kind === 'seccomp' && runtimeProfiles.includes(annotation)) return 'RuntimeDefault'
  return { unconfined: 'Unconfined', 'runtime/default': 'RuntimeDefault' }[annotation]
}

function isProfile(profile: string): boolean {
  return profile === '' || profile === 'runtime/default' || profile === 'unconfined' || profile.startsWith(localhost)
}

function isInt32(text: string): boolean {
  return /^(?:0|-?[1-9]\d{0,9})$/.test(text) && Math.abs(Number(text)) <= int32Max
}
