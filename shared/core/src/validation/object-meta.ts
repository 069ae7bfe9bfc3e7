import { list, ref } from '../description/values.ts'
import { foregroundFinalizer, type ManagedFieldsEntry, type ObjectMeta, type OwnerReference, orphanFinalizer } from '../meta/object-meta.ts'
import type { FieldError } from '../meta/status.ts'
import {
  annotationsBytesMax,
  annotationsFit,
  checkLabel,
  checkLabelValue,
  checkName,
  checkNamePrefix,
  checkQualifiedName,
  type NameCheck,
  type NameKind,
} from '../meta/validate-names.ts'
import { forbiddenValue, goValue, invalidValue, requiredValue, unsupportedValue } from '../schema/index.ts'
import { tooLongValue } from './field-errors.ts'
import { type Part, partOf, textOf } from './part.ts'

/** A kind's facts for validating metadata. */
export interface MetaRules {
  readonly isNamespaced: boolean
  readonly nameKind: NameKind | NameCheck
  /** The path of the metadata. Default: `metadata`. */
  readonly path?: string
  /** The minor version of the release whose rules and texts apply. */
  readonly level: number
  /** Allowed finalizers without a domain. Default: any. */
  readonly bareFinalizers?: readonly string[]
}

const managerLengthMax = 128
const subresourceLengthMax = 256

/** The errors of an object's metadata; empty if valid. */
export function validateObjectMeta(meta: ObjectMeta, rules: MetaRules): FieldError[] {
  const path = rules.path ?? 'metadata'
  const errors: FieldError[] = []
  validateName(errors, meta, rules, path)
  validateNamespace(errors, meta.namespace, rules, path)
  if (meta.generation !== undefined && meta.generation < 0) {
    errors.push(invalidValue(`${path}.generation`, meta.generation, 'must be greater than or equal to 0'))
  }
  validateCommon(errors, meta, path, rules.level)
  if (meta.finalizers !== undefined) validateFinalizers(errors, meta.finalizers, rules, `${path}.finalizers`)
  return errors
}

/**
 * The errors of an update of metadata; empty if valid. Omitted server-owned fields are not errors, since `carryOverMeta` fills them in.
 * Without `nameKind`, `generateName` is checked only as part of a path.
 */
export function validateObjectMetaUpdate(
  meta: ObjectMeta,
  live: ObjectMeta,
  rules: Pick<MetaRules, 'path' | 'bareFinalizers' | 'level'> & { readonly nameKind: MetaRules['nameKind'] | undefined },
): FieldError[] {
  const path = rules.path ?? 'metadata'
  const errors: FieldError[] = []
  validateNameBase(errors, meta, 'pathSegment', path)
  if (rules.nameKind !== undefined) validateNameBase(errors, meta, rules.nameKind, path)
  if (live.deletionTimestamp != null) refuseNewFinalizers(errors, meta.finalizers ?? [], live.finalizers ?? [], `${path}.finalizers`)
  for (const field of ['name', 'namespace', 'uid', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    if (field === 'deletionTimestamp' && live.deletionTimestamp) continue
    const value = meta[field]
    const isGiven = value !== undefined && value !== null && value !== ''
    if (isGiven && value !== live[field]) errors.push(invalidValue(`${path}.${field}`, value, 'field is immutable'))
  }
  validateCommon(errors, meta, path, rules.level)
  if (meta.finalizers !== undefined) validateFinalizers(errors, meta.finalizers, rules, `${path}.finalizers`)
  return errors
}

function validateNameBase(errors: FieldError[], { generateName }: ObjectMeta, nameKind: MetaRules['nameKind'], path: string): void {
  if (!generateName) return
  for (const problem of checkNamePrefix(nameKind, generateName)) errors.push(invalidValue(`${path}.generateName`, generateName, problem))
}

function validateName(errors: FieldError[], meta: ObjectMeta, rules: MetaRules, path: string): void {
  validateNameBase(errors, meta, rules.nameKind, path)
  if (!meta.name) {
    errors.push(requiredValue(`${path}.name`, 'name or generateName is required'))
    return
  }
  for (const problem of checkName(rules.nameKind, meta.name)) errors.push(invalidValue(`${path}.name`, meta.name, problem))
}

function validateNamespace(errors: FieldError[], namespace: string | undefined, rules: MetaRules, path: string): void {
  if (!rules.isNamespaced) {
    if (namespace) errors.push(forbiddenValue(`${path}.namespace`, 'not allowed on this type'))
    return
  }
  if (!namespace) {
    errors.push(requiredValue(`${path}.namespace`))
    return
  }
  for (const problem of checkLabel(namespace)) errors.push(invalidValue(`${path}.namespace`, namespace, problem))
}

function validateCommon(errors: FieldError[], meta: ObjectMeta, path: string, level: number): void {
  if (meta.labels !== undefined) validateLabels(errors, meta.labels, `${path}.labels`)
  if (meta.annotations !== undefined) validateAnnotations(errors, meta.annotations, `${path}.annotations`)
  if (meta.ownerReferences !== undefined) validateOwnerReferences(errors, meta.ownerReferences, `${path}.ownerReferences`, level)
  if (meta.managedFields !== undefined) validateManagedFields(errors, meta.managedFields, `${path}.managedFields`, level)
}

/** Adds the errors of a label map at any path. */
export function validateLabels(errors: FieldError[], labels: Readonly<Record<string, string>>, path: string): void {
  for (const key of Object.keys(labels)) {
    const value = labels[key] ?? ''
    for (const problem of checkQualifiedName(key)) errors.push(invalidValue(path, key, problem))
    for (const problem of checkLabelValue(value)) errors.push(invalidValue(path, value, problem))
  }
}

/** Adds the errors of an annotation map. The prefix of a key may contain capitals. */
export function validateAnnotations(errors: FieldError[], annotations: Readonly<Record<string, string>>, path: string): void {
  for (const key of Object.keys(annotations)) {
    for (const problem of checkQualifiedName(key.toLowerCase())) errors.push(invalidValue(path, key, problem))
  }
  if (annotationsFit(annotations)) return
  errors.push(tooLongValue(path, annotationsBytesMax))
}

/** Validates the metadata in a template: it provides labels and annotations but no name. */
export function validateTemplateMeta(errors: FieldError[], metadata: Part, path: string): void {
  validateAnnotations(errors, textsIn(metadata, 'annotations'), `${path}.annotations`)
  validateLabels(errors, textsIn(metadata, 'labels'), `${path}.labels`)
  // kube-apiserver derives the field names from Go's names.
  for (const name in metadata) {
    if (name === 'annotations' || name === 'labels' || metadata[name] == null) continue
    errors.push(forbiddenValue(`${path}.${name === 'uid' ? 'uID' : name}`, 'cannot be set'))
  }
}

function textsIn(part: Part, name: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(partOf(part, name)).map((key) => [key, textOf(partOf(part, name), key)]))
}

/** Maximum number of reported controllers besides the first, because each message repeats all references. */
const controllersListedMax = 10

/** The first level whose errors about owners contain an index, and the kinds of controllers. */
const ownersByIndexSince = 34

function validateOwnerReferences(errors: FieldError[], references: readonly OwnerReference[], path: string, level: number): void {
  const isByIndex = level >= ownersByIndexSince
  let controller: string | undefined
  let others = 0
  for (const [index, reference] of references.entries()) {
    if (isByIndex) validateOwnerReference(errors, reference, `${path}[${index}]`)
    else validateOldOwnerReference(errors, reference, path)
    if (reference.controller !== true || others === controllersListedMax) continue
    const name = isByIndex ? `${reference.kind}/${reference.name}` : reference.name
    if (controller === undefined) {
      controller = name
      continue
    }
    others += 1
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`
    errors.push(invalidValue(path, goValue(list(ref('meta/v1.OwnerReference')), references), detail))
  }
}

function validateOwnerReference(errors: FieldError[], reference: OwnerReference, at: string): void {
  for (const name of ['apiVersion', 'kind', 'name', 'uid'] as const) {
    if (!reference[name]) errors.push(requiredValue(`${at}.${name}`, 'must not be empty'))
    else if (name === 'apiVersion' && !namesVersion(reference[name]))
      errors.push(invalidValue(`${at}.${name}`, reference[name], 'must be <group>/<version> or <version>'))
  }
  refuseEventAsOwner(errors, reference, at)
}

function validateOldOwnerReference(errors: FieldError[], reference: OwnerReference, path: string): void {
  const { apiVersion, kind, name, uid } = reference
  if (!namesVersion(apiVersion)) errors.push(invalidValue(`${path}.apiVersion`, apiVersion ?? '', 'version must not be empty'))
  if (!kind) errors.push(invalidValue(`${path}.kind`, '', 'kind must not be empty'))
  if (!name) errors.push(invalidValue(`${path}.name`, '', 'name must not be empty'))
  if (!uid) errors.push(invalidValue(`${path}.uid`, '', 'uid must not be empty'))
  refuseEventAsOwner(errors, reference, path)
}

/** Like kube-apiserver, treats a malformed group and version as no version. */
function namesVersion(apiVersion = ''): boolean {
  return apiVersion !== '' && !apiVersion.endsWith('/') && apiVersion.split('/').length <= 2
}

/** Events may not be owners, because thousands are created and expire. */
function refuseEventAsOwner(errors: FieldError[], reference: OwnerReference, path: string): void {
  if (reference.apiVersion !== 'v1' || reference.kind !== 'Event') return
  const shown = goValue(ref('meta/v1.OwnerReference'), reference)
  errors.push(invalidValue(path, shown, '/v1, Kind=Event is disallowed from being an owner'))
}

function validateFinalizers(
  errors: FieldError[],
  finalizers: readonly string[],
  rules: Pick<MetaRules, 'bareFinalizers'>,
  path: string,
): void {
  for (const finalizer of finalizers) {
    for (const problem of checkQualifiedName(finalizer)) errors.push(invalidValue(path, finalizer, problem))
  }
  if (finalizers.includes(orphanFinalizer) && finalizers.includes(foregroundFinalizer)) {
    errors.push(invalidValue(path, finalizers, `finalizer ${orphanFinalizer} and ${foregroundFinalizer} cannot be both set`))
  }
  const { bareFinalizers } = rules
  if (bareFinalizers === undefined) return
  for (const [index, finalizer] of finalizers.entries()) {
    if (finalizer.includes('/') || bareFinalizers.includes(finalizer)) continue
    errors.push(invalidValue(`${path}[${index}]`, finalizer, 'name is neither a standard finalizer name nor is it fully qualified'))
  }
}

function refuseNewFinalizers(errors: FieldError[], finalizers: readonly string[], live: readonly string[], path: string): void {
  const known = new Set(live)
  const added = finalizers.filter((finalizer) => !known.has(finalizer))
  if (added.length === 0) return
  const list = [...new Set(added)]
    .sort()
    .map((finalizer) => JSON.stringify(finalizer))
    .join(', ')
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`
  errors.push(forbiddenValue(path, detail))
}

/** The first level with different errors for an absent and an unknown operation. */
const absentOperationSince = 37

function validateManagedFields(errors: FieldError[], entries: readonly ManagedFieldsEntry[], path: string, level: number): void {
  for (const [index, entry] of entries.entries()) {
    const at = `${path}[${index}]`
    const { operation = '' } = entry
    if (operation !== 'Apply' && operation !== 'Update') {
      const field = `${at}.operation`
      if (level < absentOperationSince) errors.push(invalidValue(field, operation, 'must be `Apply` or `Update`'))
      else
        errors.push(operation === '' ? requiredValue(field, 'must not be empty') : unsupportedValue(field, operation, ['Apply', 'Update']))
    }
    if (entry.fieldsType && entry.fieldsType !== 'FieldsV1') {
      errors.push(invalidValue(`${at}.fieldsType`, entry.fieldsType, 'must be `FieldsV1`'))
    }
    validateFieldManager(errors, entry.manager ?? '', `${at}.manager`)
    if ((entry.subresource ?? '').length > subresourceLengthMax) {
      errors.push(tooLongValue(`${at}.subresource`, subresourceLengthMax))
    }
  }
}

/** Adds the errors of a field manager's name. */
export function validateFieldManager(errors: FieldError[], manager: string, path: string): void {
  if (manager.length <= managerLengthMax && /^[ -~]*$/.test(manager)) return
  if (new TextEncoder().encode(manager).length > managerLengthMax) {
    errors.push(tooLongValue(path, managerLengthMax))
  }
  let at = 0
  for (const character of manager) {
    if (unprintable.test(character))
      errors.push(invalidValue(path, manager, `invalid character ${codePoint(character)} (at position ${at})`))
    at += new TextEncoder().encode(character).length
  }
}

const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u

/** A character in the format of Go's `%U`. */
function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
