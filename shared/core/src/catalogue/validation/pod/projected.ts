import type { FieldError } from '../../../meta/status.ts'
import { forbiddenValue, invalidValue, requiredValue } from '../../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, textOf } from '../../../validation/part.ts'
import { allowBetween, isGiven, numberOf, requireText } from '../checks.ts'
import { validateFieldRef, validateResourceRef } from './container-env.ts'
import { validateFilePath } from './paths.ts'

const modeRange = { min: 0, max: 0o777, detail: 'must be a number between 0 and 0777 (octal), both inclusive' }
const tokenSecondsMin = 600
const tokenSecondsMax = 2 ** 32

/** Files out of a Secret, a ConfigMap (which is named by `nameField`) or the Pod itself. */
export function validateFileVolume(nameField?: string) {
  return (errors: FieldError[], source: Part, at: string): void => {
    if (nameField !== undefined) requireText(errors, { part: source, name: nameField, at })
    allowBetween(errors, { part: source, name: 'defaultMode', at }, modeRange)
    for (const [index, item] of itemsOf(source, 'items').entries()) {
      if (nameField === undefined) validateDownwardFile(errors, item, at)
      else validateKeyFile(errors, item, `${at}.items[${index}]`)
    }
  }
}

function validateKeyFile(errors: FieldError[], item: Part, at: string): void {
  requireText(errors, { part: item, name: 'key', at })
  requireText(errors, { part: item, name: 'path', at })
  validateFilePath(errors, textOf(item, 'path'), `${at}.path`)
  allowBetween(errors, { part: item, name: 'mode', at }, modeRange)
}

function validateDownwardFile(errors: FieldError[], item: Part, at: string): void {
  requireText(errors, { part: item, name: 'path', at })
  validateFilePath(errors, textOf(item, 'path'), `${at}.path`)
  const fieldRef = optionalPart(item, 'fieldRef')
  const resourceRef = optionalPart(item, 'resourceFieldRef')
  if (fieldRef !== undefined) {
    validateFieldRef(errors, fieldRef, `${at}.fieldRef`, 'file')
    if (resourceRef !== undefined) {
      errors.push(invalidValue(at, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'))
    }
  } else if (resourceRef !== undefined) validateResourceRef(errors, resourceRef, `${at}.resourceFieldRef`, 'file')
  else errors.push(requiredValue(at, 'one of fieldRef and resourceFieldRef is required'))
  allowBetween(errors, { part: item, name: 'mode', at }, modeRange)
}

/** Files of several sources in one folder, where each needs a path of its own. */
export function validateProjected(errors: FieldError[], volume: Part, at: string): void {
  allowBetween(errors, { part: volume, name: 'defaultMode', at }, modeRange)
  const paths = new Set<string>()
  for (const [index, source] of itemsOf(volume, 'sources').entries()) validateProjection(errors, source, paths, { at, index })
}

const projections = ['secret', 'configMap', 'downwardAPI', 'serviceAccountToken'] as const

function validateProjection(errors: FieldError[], source: Part, paths: Set<string>, place: { at: string; index: number }): void {
  const at = `${place.at}.sources[${place.index}]`
  let count = 0
  for (const kind of projections) {
    const projection = optionalPart(source, kind)
    if (projection === undefined) continue
    count += 1
    if (count > 1) {
      errors.push(forbiddenValue(`${at}.${kind}`, 'may not specify more than 1 volume type'))
      continue
    }
    if (kind === 'serviceAccountToken') validateToken(errors, projection, `${at}.${kind}`, place.at)
    else validatePart(errors, kind, projection, `${at}.${kind}`)
    for (const file of filesOf(kind, projection)) {
      const path = textOf(file, 'path')
      if (path === '') continue
      const shown = kind === 'secret' || kind === 'configMap' ? textOf(projection, 'name') : path
      if (paths.has(path)) errors.push(invalidValue(place.at, shown, 'conflicting duplicate paths'))
      paths.add(path)
    }
  }
}

function filesOf(kind: (typeof projections)[number], projection: Part): readonly Part[] {
  return kind === 'serviceAccountToken' ? [projection] : itemsOf(projection, 'items')
}

type FileKind = Exclude<(typeof projections)[number], 'serviceAccountToken'>

function validatePart(errors: FieldError[], kind: FileKind, projection: Part, at: string): void {
  switch (kind) {
    case 'secret':
    case 'configMap':
      requireText(errors, { part: projection, name: 'name', at })
      for (const [index, item] of itemsOf(projection, 'items').entries()) validateKeyFile(errors, item, `${at}.items[${index}]`)
      return
    case 'downwardAPI':
      for (const item of itemsOf(projection, 'items')) validateDownwardFile(errors, item, at)
  }
}

/** A token without a path is blamed on the volume, by kube-apiserver too. */
function validateToken(errors: FieldError[], token: Part, at: string, volume: string): void {
  const seconds = numberOf(token, 'expirationSeconds')
  const refuse = (detail: string): void => void errors.push(invalidValue(`${at}.expirationSeconds`, seconds, detail))
  if (seconds !== undefined && seconds < tokenSecondsMin) refuse('may not specify a duration less than 10 minutes')
  if (seconds !== undefined && seconds > tokenSecondsMax) refuse('may not specify a duration larger than 2^32 seconds')
  requireText(errors, { part: token, name: 'path', at: volume })
}

/** Tokens of an account can be had only where an account is named. */
export function refuseTokensWithoutAccount(errors: FieldError[], volumes: readonly Part[], path: string): void {
  for (const [index, volume] of volumes.entries()) {
    for (const [position, source] of itemsOf(optionalPart(volume, 'projected'), 'sources').entries()) {
      if (!isGiven(source, 'serviceAccountToken')) continue
      const field = `${path}[${index}].projected.sources[${position}].serviceAccountToken`
      errors.push(forbiddenValue(field, 'must not be specified when serviceAccountName is not set'))
    }
  }
}
