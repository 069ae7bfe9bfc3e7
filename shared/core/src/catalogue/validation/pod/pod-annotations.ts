import type { FieldError } from '../../../meta/status.ts'
import { domainLabel, type Names, subdomainLabel } from '../../../names.ts'
import { forbiddenValue, invalidValue } from '../../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf, textsOf } from '../../../validation/part.ts'
import { appArmorPrefix } from '../../app-armor.ts'
import { containersOf } from './platform.ts'

const int32Max = 2 ** 31 - 1

/** The annotations of a Pod, or of a template of Pods. */
export interface AnnotatedPod {
  readonly annotations: Part
  readonly spec: Part
  /** Of the annotations. */
  readonly path: string
  readonly names: Names
}

/** Annotations of a Pod that mean something to the server or to a node. */
export function validatePodAnnotations(errors: FieldError[], { annotations, spec, path, names }: AnnotatedPod): void {
  const refuse = (key: string, value: unknown, detail: string): void => void errors.push(invalidValue(`${path}[${key}]`, value, detail))
  const mirror = domainLabel(names, 'config.mirror')
  if (annotations[mirror] !== undefined && textOf(spec, 'nodeName') === '') {
    refuse(mirror, annotations[mirror], 'must set spec.nodeName if mirror pod annotation is set')
  }
  const cost = subdomainLabel(names, 'controller', 'pod-deletion-cost')
  const amount = annotations[cost]
  if (amount !== undefined && !isInt32(String(amount))) refuse(cost, amount, 'must be a 32bit integer')
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

/** Annotations that the node reads at the start of the Pod stay as they are. */
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

/** An annotation about the AppArmor profile of a container says the same as the field, which is that of the Pod if the container has none. */
export function validateAppArmorMatch(errors: FieldError[], annotations: Part, spec: Part, names: Names): void {
  if (textOf(optionalPart(spec, 'os'), 'name') === 'windows') return
  const ofPod = optionalPart(optionalPart(spec, 'securityContext'), 'appArmorProfile')
  const prefix = appArmorPrefix(names)
  for (const [container, at] of containersOf(spec, 'spec')) {
    const annotation = annotations[prefix + textOf(container, 'name')]
    const profile = optionalPart(partOf(container, 'securityContext'), 'appArmorProfile') ?? ofPod
    if (typeof annotation !== 'string' || profile === undefined) continue
    const path = `${at}.securityContext.appArmorProfile`
    const [type, name] = [textOf(profile, 'type'), profile['localhostProfile']]
    if (type !== '' && typeOf(annotation) !== type) {
      errors.push(forbiddenValue(`${path}.type`, 'apparmor type in annotation and field must match'))
    } else if (type === 'Localhost' && annotation !== `localhost/${String(name)}`) {
      errors.push(forbiddenValue(`${path}.localhostProfile`, 'apparmor profile in annotation and field must match'))
    }
  }
}

/** The type of a profile that an annotation names. */
function typeOf(annotation: string): string | undefined {
  if (annotation.startsWith('localhost/')) return 'Localhost'
  return { unconfined: 'Unconfined', 'runtime/default': 'RuntimeDefault' }[annotation]
}

function isProfile(profile: string): boolean {
  return profile === '' || profile === 'runtime/default' || profile === 'unconfined' || profile.startsWith('localhost/')
}

function isInt32(text: string): boolean {
  return /^(?:0|-?[1-9]\d{0,9})$/.test(text) && Math.abs(Number(text)) <= int32Max
}
