import type { FieldError } from '../../../meta/status.ts'
import { domainLabel, type Names, subdomainLabel } from '../../../names.ts'
import { invalidValue } from '../../../validation/field-errors.ts'
import { itemsOf, type Part, textOf, textsOf } from '../../../validation/part.ts'

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
  const prefix = subdomainLabel(names, 'container.apparmor.security.beta', '')
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

function isProfile(profile: string): boolean {
  return profile === '' || profile === 'runtime/default' || profile === 'unconfined' || profile.startsWith('localhost/')
}

function isInt32(text: string): boolean {
  return /^(?:0|-?[1-9]\d{0,9})$/.test(text) && Math.abs(Number(text)) <= int32Max
}
