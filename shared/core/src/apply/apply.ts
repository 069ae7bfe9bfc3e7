import { decodeJson, isJsonObject, memberOf, printJson } from '../json/index.ts'
import type { ManagedFieldsEntry } from '../meta/object-meta.ts'
import type { Steps } from '../steps.ts'
import { findUnownable, findUnownableParts, joinProblems } from './check.ts'
import { compare, isSame } from './compare.ts'
import { type ApplyConflict, conflictsOf } from './conflicts.ts'
import { difference, equalSets, type FieldSet, isEmptySet, recursiveDifference } from './field-set.ts'
import { Unownable } from './list-items.ts'
import { mergeApply } from './merge.ts'
import { hasOutline, type Outline, outlineOf } from './outline.ts'
import {
  changeOf,
  managedFieldsOf,
  type OwnedObject,
  type Owner,
  type Owners,
  type OwnerWrite,
  ownerIdentity,
  parseOwners,
  printOwners,
  reconcileOwners,
  recordUpdate,
  type View,
  withoutManagedFields,
  withoutUntracked,
} from './ownership.ts'
import { compareText } from './path-element.ts'
import { pruneDropped } from './prune.ts'
import type { Shape } from './shape.ts'
import { toFieldSet } from './to-field-set.ts'

/** The manager that owns an untracked object's fields before its first apply. */
export const beforeFirstApplyManager = 'before-first-apply'

/** An apply request. The live and the applied object are in the request's version. */
export interface ApplyOptions extends OwnerWrite {
  /** Undefined if the apply creates the object. */
  readonly live: OwnedObject | undefined
  /** The applied configuration as it was sent. */
  readonly config: OwnedObject
  /** Takes fields from their owners instead of failing. */
  readonly force: boolean
  /** The annotation in which client-side apply stores its configuration. */
  readonly lastAppliedAnnotation?: string
}

/** The result of an apply. Conflicts are for `conflictStatus`; `message` is for a 400. */
export type ApplyOutcome =
  | {
      readonly kind: 'applied'
      /** The merged object, without defaults and without `managedFields`. */
      readonly object: OwnedObject
      readonly managedFields: ManagedFieldsEntry[]
      /** True if the object or its owners have changed. */
      readonly changed: boolean
    }
  | { readonly kind: 'conflicts'; readonly conflicts: readonly ApplyConflict[] }
  | { readonly kind: 'invalid'; readonly message: string }

/** Applies a configuration to an object, or creates the object from it, in steps. The inputs are not changed. */
export function* applyToInSteps(options: ApplyOptions): Steps<ApplyOutcome> {
  const read = readConfig(options)
  if ('problem' in read) return { kind: 'invalid', message: read.problem }
  yield
  try {
    return yield* applyChecked({ ...options, fields: read.fields })
  } catch (error) {
    // Both objects were valid in the request's version; in an owner's version they may not be.
    if (error instanceof Unownable) return { kind: 'invalid', message: error.message }
    throw error
  }
}

/** An apply with a checked configuration, and the fields that it sets. */
type CheckedOptions = ApplyOptions & { readonly fields: FieldSet }

function* applyChecked(options: CheckedOptions): Steps<ApplyOutcome> {
  const start = yield* startOf(options)
  yield
  const attempt = yield* applyFrom(start, options, options.force)
  const outcome = attempt.kind === 'applied' ? attempt : yield* takeOver(start, options, attempt)
  if (outcome.kind !== 'applied' || options.manager !== takeOverManager || options.lastAppliedAnnotation === undefined) return outcome
  const object = withLastApplied(outcome.object, options.config, options.lastAppliedAnnotation)
  return object === outcome.object ? outcome : { ...outcome, object, changed: true }
}

/** The fields that the configuration sets, or the reason why it cannot be applied. */
function readConfig({ live, config, apiVersion, schema }: ApplyOptions): { readonly fields: FieldSet } | { readonly problem: string } {
  const metadata = config['metadata']
  if (isJsonObject(metadata) && (metadata['managedFields'] ?? undefined) !== undefined)
    return { problem: 'metadata.managedFields must be nil' }
  if (config['apiVersion'] !== apiVersion) {
    const given = typeof config['apiVersion'] === 'string' ? config['apiVersion'] : ''
    return { problem: `Incorrect version specified in apply patch. Specified patch version: ${given}, expected: ${apiVersion}` }
  }
  const fields = readAppliedFields(schema, config)
  if ('problems' in fields) {
    return { problem: `failed to create typed patch object (${describeObject(config)}): ${joinProblems(fields.problems)}` }
  }
  const stuck = live === undefined ? [] : findStuck(schema, withoutManagedFields(live))
  if (stuck.length === 0) return { fields }
  return { problem: `failed to create typed live object (${describeObject(live ?? {})}): ${joinProblems(stuck)}` }
}

function findStuck(schema: Shape, live: OwnedObject): string[] {
  return schema.kind === 'object' ? findUnownableParts(schema, live) : findUnownable(schema, live)
}

/** `default/web; apps/v1, Kind=Deployment`. A version of the core group is preceded by a slash. */
function describeObject(object: OwnedObject): string {
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {}
  const apiVersion = String(object['apiVersion'] ?? '')
  const groupVersion = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
  return `${metadata['namespace'] ?? ''}/${metadata['name'] ?? ''}; ${groupVersion}, Kind=${object['kind'] ?? ''}`
}

/** The initial state of an apply. */
interface Start {
  readonly view: View
  readonly live: OwnedObject
  readonly owners: Owners
  readonly formerCount: number
}

/** The initial owners. The fields of an object without owners belong to a separate manager. */
function* startOf({
  live: given,
  apiVersion,
  schema: shape,
  convert,
  resetFields,
  blank = {},
  subresource = '',
  now,
}: ApplyOptions): Steps<Start> {
  const view: View = { shape, apiVersion, convert, resetFields }
  const live = withoutManagedFields(given ?? blank)
  const known = (yield* parseOwners(managedFieldsOf(given))) ?? new Map<string, Owner>()
  const formerCount = known.size
  yield
  if (formerCount > 0 || given === undefined) return { view, live, owners: yield* reconcileOwners(view, live, known), formerCount }
  const owners = yield* recordUpdate(view, known, { before: blank, after: live }, { manager: beforeFirstApplyManager, subresource, now })
  return { view, live, owners, formerCount }
}

type Attempt =
  | Extract<ApplyOutcome, { kind: 'applied' }>
  | { readonly kind: 'refused'; readonly owners: Owners; readonly taken: ReadonlyMap<string, FieldSet> }

function* applyFrom({ view, live, owners, formerCount }: Start, options: CheckedOptions, force: boolean): Steps<Attempt> {
  const { config, fields, manager, apiVersion, subresource = '', now } = options
  const applied = recursiveDifference(fields, view.resetFields)
  const fresh: Owner = { manager, operation: 'Apply', apiVersion, subresource, time: undefined, set: applied }
  const self = ownerIdentity(fresh)
  const last = owners.get(self)
  yield
  const merged = mergeApply(view.shape, live, config)
  yield
  const after = yield* pruneDropped(view, { merged, last, owners: new Map(owners).set(self, fresh), applied })
  yield
  const change = yield* changeOf(view, owners, { before: live, after, self })
  yield
  if (!force && change.taken.size > 0) return { kind: 'refused', owners, taken: change.taken }
  const isObjectSame = isSame(change.comparison)
  const tracked = withoutUntracked(applied)
  const set = last !== undefined && equalSets(last.set, tracked) ? last.set : tracked
  if (isEmptySet(set)) change.owners.delete(self)
  else
    change.owners.set(self, {
      ...fresh,
      set,
      time: isObjectSame ? last?.time : now,
      ...(last?.stored === undefined ? {} : { stored: last.stored }),
    })
  return {
    kind: 'applied',
    object: isObjectSame ? live : (after as OwnedObject),
    managedFields: yield* printOwners(change.owners.values()),
    changed: !isObjectSame || change.owners.size !== formerCount || [...change.owners.values()].some(isOtherThanStored),
  }
}

function isOtherThanStored({ set, apiVersion, stored }: Owner): boolean {
  return stored?.set !== set || stored.entry.apiVersion !== apiVersion
}

/**
 * Lets the command line take over, without force, the fields that it owned by client-side apply, as far as the live values
 * still equal the annotation. A field that another manager has changed since belongs to that manager. Other conflicts are
 * reported.
 */
function* takeOver(start: Start, options: CheckedOptions, { owners, taken }: Extract<Attempt, { kind: 'refused' }>): Steps<ApplyOutcome> {
  const { manager, lastAppliedAnnotation: annotation, apiVersion, schema } = options
  const former = manager === takeOverManager && annotation !== undefined ? lastAppliedOf(start.live, annotation) : undefined
  if (former === undefined || former['apiVersion'] !== apiVersion || findUnownable(schema, former).length > 0) {
    return { kind: 'conflicts', conflicts: conflictsOf(owners, taken) }
  }
  const { modified, removed } = compare(schema, former, start.live)
  const allowed = difference(difference(toFieldSet(schema, former), modified), removed)
  const others = [...taken].map(([identity, set]) => [identity, difference(set, allowed)] as const).filter(([, set]) => !isEmptySet(set))
  if (others.length > 0) return { kind: 'conflicts', conflicts: conflictsOf(owners, new Map(others)) }
  return (yield* applyFrom(start, options, true)) as Extract<Attempt, { kind: 'applied' }>
}

/** The ownable fields of a configuration, and the outline shared by all configurations with these fields. */
interface AppliedFields {
  readonly outline: Outline
  readonly set: FieldSet
}

/** Number of cached field sets per shape: most appliers apply the same fields repeatedly. */
const keptPerShape = 4

const appliedFields = new WeakMap<Shape, AppliedFields[]>()

/** The fields that a configuration sets, or the error that prevents their ownership. */
export function readAppliedFields(shape: Shape, config: unknown): FieldSet | { readonly problems: readonly string[] } {
  const kept = appliedFields.get(shape) ?? []
  const known = kept.find(({ outline }) => hasOutline(outline, config))
  if (known !== undefined) return known.set
  const problems = findUnownable(shape, config)
  if (problems.length > 0) return { problems }
  const set = toFieldSet(shape, config)
  const outline = outlineOf(shape, config, undefined)
  if (outline !== undefined) appliedFields.set(shape, [{ outline, set }, ...kept.slice(0, keptPerShape - 1)])
  return set
}

/** The manager of `kubectl apply`, which takes over the fields of its client-side apply. */
const takeOverManager = 'kubectl'
/** Maximum size of an object's annotations, keys and values together. */
const annotationBytesMax = 256 * 1024

/** The configuration that a client-side apply has stored in an annotation, as an object; undefined if absent. */
export function lastAppliedOf(object: OwnedObject, annotation: string): Record<string, unknown> | undefined {
  const text = annotationsOf(object)?.[annotation]
  if (typeof text !== 'string' || text === '') return undefined
  const decoded = decodeJson(text)
  return decoded.kind === 'json' && isJsonObject(decoded.value) ? decoded.value : undefined
}

/** The object with its last-applied annotation, if any, set to the new configuration in the client's format. */
export function withLastApplied(object: OwnedObject, config: OwnedObject, annotation: string): OwnedObject {
  const annotations = annotationsOf(object)
  if (annotations === undefined || !annotations[annotation]) return object
  const text = `${printJson(sorted(withoutAnnotation(config, annotation)), { hasBigIntegers: true })}\n`
  if (annotations[annotation] === text) return object
  const { [annotation]: _former, ...others } = annotations
  const kept = bytesOf({ ...others, [annotation]: text }) > annotationBytesMax ? others : { ...annotations, [annotation]: text }
  return { ...object, metadata: { ...(object['metadata'] as Record<string, unknown>), annotations: kept } }
}

function annotationsOf(object: OwnedObject): Record<string, unknown> | undefined {
  const metadata = object['metadata']
  const annotations = isJsonObject(metadata) ? memberOf(metadata, 'annotations') : undefined
  return isJsonObject(annotations) ? annotations : undefined
}

function withoutAnnotation(config: OwnedObject, annotation: string): OwnedObject {
  const annotations = annotationsOf(config)
  if (annotations === undefined || !isJsonObject(config['metadata'])) return config
  const { annotations: _annotations, ...metadata } = config['metadata']
  const { [annotation]: _former, ...others } = annotations
  return { ...config, metadata: Object.keys(others).length === 0 ? metadata : { ...metadata, annotations: others } }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isJsonObject(value)) return value
  const keys = Object.keys(value).sort(compareText)
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]))
}

function bytesOf(annotations: Record<string, unknown>): number {
  const encoder = new TextEncoder()
  return Object.entries(annotations).reduce((sum, [key, value]) => sum + encoder.encode(key + String(value)).length, 0)
}
