import { BuiltInReaders, type Catalogue } from '@orch/core/catalogue'
import { cannotUnmarshal, isJsonObject, isTexts, printValue } from '@orch/core/json'
import { badRequest, type FieldError, type PlainFieldError, textAt, unsupportedMediaType } from '@orch/core/meta'
import { unsupportedValue } from '@orch/core/schema'
import { type BodyParts, bodyFormat, jsonProblem, parseBodyOf, readBytes } from '../request/body.ts'
import { acceptedMediaTypes } from '../request/negotiate.ts'
import type { GatewayRequest } from '../request/request.ts'
import { type Query, queryBoolean, queryInteger } from '../request/request-info.ts'
import type { Surroundings } from '../surroundings.ts'
import { listOfKinds, typeMetaType } from './candidate.ts'
import { checkDryRun, invalidOptions } from './options.ts'

/** The inputs of the options' meaning. */
interface MeaningParts extends Pick<Surroundings, 'names' | 'level'> {
  readonly catalogue: Catalogue
  /** `apiVersion` of options: `meta.orch.io/v1`. */
  readonly metaVersion: string
}

/** The dependencies of reading the options of a deletion. */
export type DeleteOptionsParts = BodyParts & MeaningParts

type Propagation = 'Background' | 'Orphan' | 'Foreground'

/** The meaning of a deletion. */
export interface DeleteOptions {
  readonly isDryRun: boolean
  readonly gracePeriodSeconds: number | undefined
  /** Undefined if the request does not set it. */
  readonly propagation: Propagation | undefined
  readonly orphanDependents: boolean | undefined
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string }
  /** Deletes an object that cannot be read, and no other one. */
  readonly ignoresReadErrors: boolean
  /** As admission sees it. */
  readonly object: Record<string, unknown>
}

const deleteOptions = { kind: 'DeleteOptions', readers: new BuiltInReaders('meta/v1.DeleteOptions') }

/** The options in the body or, where that is empty, in the query. */
export async function readDeleteOptions(request: GatewayRequest, parts: DeleteOptionsParts): Promise<DeleteOptions> {
  const bytes = await readBytes(request, parts)
  return toDeleteOptions(bytes.length === 0 ? fromQuery(request) : await fromBody(request, bytes, parts), parts)
}

function fromQuery({ query }: GatewayRequest): Record<string, unknown> {
  if (query.isEmpty) return {}
  const orphan = query.get('orphanDependents')
  const [uid, resourceVersion] = [query.get('uid') || undefined, query.get('resourceVersion') || undefined]
  return {
    ...(uid === undefined && resourceVersion === undefined ? {} : { preconditions: { uid, resourceVersion } }),
    gracePeriodSeconds: queryInteger(query, 'gracePeriodSeconds'),
    propagationPolicy: query.get('propagationPolicy'),
    orphanDependents: orphan === undefined ? undefined : queryBoolean(query, 'orphanDependents'),
    dryRun: dryRunsOf(query),
    ...(query.get(ignoreReadErrors) === undefined ? {} : { [ignoreReadErrors]: queryBoolean(query, ignoreReadErrors) }),
  }
}

/** The members of the type; any other is dropped, as unknown fields are everywhere. */
const ignoreReadErrors = 'ignoreStoreReadErrorWithClusterBreakingPotential'
const optionNames = ['gracePeriodSeconds', 'preconditions', 'orphanDependents', 'propagationPolicy', 'dryRun', ignoreReadErrors]

async function fromBody(request: GatewayRequest, bytes: Uint8Array, parts: DeleteOptionsParts): Promise<Record<string, unknown>> {
  const format = bodyFormat(request, parts.names)
  if (format === 'unknown') throw unsupportedMediaType(acceptedMediaTypes(parts.names, request))
  const received = { kind: 'bytes', bytes, format, expected: deleteOptions } as const
  const body = await parseBodyOf(request, received, parts)
  const { hasNumerals } = body
  // As in Go, null is an object without members.
  const value = body.value === null ? {} : body.value
  if (!isJsonObject(value)) throw badRequest(jsonProblem(cannotUnmarshal(value, typeMetaType)))
  const kind = value['kind'] || 'DeleteOptions'
  const apiVersion = value['apiVersion'] || parts.metaVersion
  if (kind !== 'DeleteOptions')
    throw badRequest(
      `no kind ${printValue(kind)} is registered for version ${printValue(apiVersion)} in ${textAt(listOfKinds, parts.level)}`,
    )
  requireOptionsVersion(apiVersion, parts)
  const decoded = deleteOptions.readers.decode(value, { trackUnknown: false, hasNumerals })
  if (decoded.kind === 'mismatch') throw badRequest(decoded.textWithoutPath)
  const options = Object.fromEntries(optionNames.filter((name) => Object.hasOwn(value, name)).map((name) => [name, value[name]]))
  return { ...options, dryRun: dryRunsOf(request.query) ?? options['dryRun'] }
}

/** The query counts even with a body. kube-apiserver ignores the query of a request with a body, and deletes. */
function dryRunsOf(query: Query): readonly string[] | undefined {
  const values = query.all('dryRun')
  return values.length === 0 ? undefined : values
}

/** Options are the same in every version that is served; of another one the meaning is not known. */
function requireOptionsVersion(apiVersion: unknown, { catalogue, metaVersion }: MeaningParts): void {
  if (apiVersion == null || apiVersion === '' || apiVersion === 'v1' || apiVersion === metaVersion) return
  const isServed = catalogue.groups.some(({ name, versions }) => versions.some((version) => apiVersion === `${name}/${version}`))
  if (!isServed) throw badRequest(`no kind "DeleteOptions" is registered for version ${printValue(apiVersion)}`)
}

/** Options that have been read and checked. */
export function toDeleteOptions(given: Record<string, unknown>, parts: MeaningParts): DeleteOptions {
  const { [ignoreReadErrors]: asked, ...others } = given
  // Without its gate the option is an unknown field.
  const isKnown = asked !== undefined && parts.catalogue.isGateOn('AllowUnsafeMalformedObjectDeletion')
  const ignoresReadErrors = isKnown && read(ignoreReadErrors, asked, aBoolean) === true
  const options = isKnown ? given : others
  const { dryRun, preconditions } = options
  const gracePeriodSeconds = read('gracePeriodSeconds', options['gracePeriodSeconds'], aNumber)
  if (gracePeriodSeconds !== undefined && !Number.isSafeInteger(gracePeriodSeconds)) throw wrongType('gracePeriodSeconds', 'a whole number')
  const propagationPolicy = read('propagationPolicy', options['propagationPolicy'], aText)
  const orphanDependents = read('orphanDependents', options['orphanDependents'], aBoolean)
  const dryRuns = dryRun ?? []
  if (!isTexts(dryRuns)) throw wrongType('dryRun', 'an array of strings')
  const errors: FieldError[] = []
  checkDryRun(errors, dryRuns)
  if (propagationPolicy !== undefined && !isPropagation(propagationPolicy)) {
    errors.push(unsupportedValue('propagationPolicy', propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']))
  }
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    const message = `Invalid value: ${JSON.stringify(propagationPolicy)}: orphanDependents and deletionPropagation cannot be both set`
    errors.push({ reason: 'FieldValueInvalid', field: 'propagationPolicy', message })
  }
  if (ignoresReadErrors) errors.push(...besideIgnoredErrors(options))
  if (errors.length > 0) throw invalidOptions(parts, 'DeleteOptions', errors)
  return {
    isDryRun: dryRuns.length > 0,
    gracePeriodSeconds,
    propagation: isPropagation(propagationPolicy) ? propagationPolicy : propagationOf(orphanDependents),
    orphanDependents,
    preconditions: isJsonObject(preconditions) ? readPreconditions(preconditions) : {},
    ignoresReadErrors,
    object: { ...options, kind: 'DeleteOptions', apiVersion: parts.metaVersion },
  }
}

/** Options that say how an object is deleted have no meaning for one that cannot be read. */
function besideIgnoredErrors(options: Record<string, unknown>): FieldError[] {
  return ['propagationPolicy', 'orphanDependents', 'gracePeriodSeconds', 'preconditions'].flatMap((name) =>
    options[name] == null ? [] : [invalidIgnored(`cannot be set together with .${name}`)],
  )
}

/** Why the option that ignores read errors is refused. */
export function invalidIgnored(why: string): PlainFieldError {
  return { reason: 'FieldValueInvalid', field: ignoreReadErrors, message: `Invalid value: true: ${why}` }
}

function propagationOf(orphanDependents: unknown): Propagation | undefined {
  if (orphanDependents === true) return 'Orphan'
  return orphanDependents === false ? 'Background' : undefined
}

function isPropagation(value: unknown): value is Propagation {
  return value === 'Background' || value === 'Orphan' || value === 'Foreground'
}

function readPreconditions(preconditions: Record<string, unknown>): DeleteOptions['preconditions'] {
  const uid = read('preconditions.uid', preconditions['uid'], aText)
  const resourceVersion = read('preconditions.resourceVersion', preconditions['resourceVersion'], aText)
  return { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) }
}

interface Expected<T> {
  readonly what: string
  readonly is: (value: unknown) => value is T
}

const aNumber: Expected<number> = { what: 'a number', is: (value) => typeof value === 'number' }
const aText: Expected<string> = { what: 'a string', is: (value) => typeof value === 'string' }
const aBoolean: Expected<boolean> = { what: 'a boolean', is: (value) => typeof value === 'boolean' }

/** A value of the expected type; null says as little as nothing. */
function read<T>(field: string, value: unknown, { what, is }: Expected<T>): T | undefined {
  if (value == null) return undefined
  if (!is(value)) throw wrongType(field, what)
  return value
}

function wrongType(field: string, expected: string): Error {
  return badRequest(`DeleteOptions in version "v1" cannot be handled as a DeleteOptions: ${field}: expected ${expected}`)
}
