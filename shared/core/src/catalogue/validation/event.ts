import type { Node } from '../../description/node.ts'
import { microTime, ref, time } from '../../description/values.ts'
import { checkQualifiedName, checkSubdomain, type FieldError } from '../../meta/index.ts'
import type { Names } from '../../names.ts'
import { goValue } from '../../schema/go-value.ts'
import { invalidFor, invalidValue, requiredValue } from '../../validation/field-errors.ts'
import { isSame, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { bytesOf } from '../../validation/texts.ts'

const wordLengthMax = 128
const messageLengthMax = 1024

/** The names of the same fields in both groups. Messages use the core names. */
interface Words {
  readonly object: string
  readonly reporter: string
  readonly message: string
  readonly reporterInErrors: string
}

const olderWords: Words = {
  object: 'involvedObject',
  reporter: 'reportingComponent',
  message: 'message',
  reporterInErrors: 'reportingComponent',
}
const newerWords: Words = {
  object: 'regarding',
  reporter: 'reportingController',
  message: 'note',
  reporterInErrors: 'reportingController',
}

/** The rules of an Event in the core group. */
export function validateCoreEvent(event: Part, _live: Part | undefined, names: Names): FieldError[] {
  return validateLegacy(event, olderWords, names)
}

/** The rules of an Event in the beta version of the events group, which are those of the core group. */
export function validateBetaEvent(event: Part, _live: Part | undefined, names: Names): FieldError[] {
  return validateLegacy(event, newerWords, names)
}

/** The rules of an Event in the events group, which is stricter: only the series may change. */
export function validateEvent(event: Part, live: Part | undefined, names: Names): FieldError[] {
  const errors = validateLegacy(event, newerWords, names)
  if (live !== undefined) {
    if (!isSame(event['series'], live['series'])) errors.push(...validateSeries(event))
    return [...errors, ...validateKept(event, live)]
  }
  errors.push(...validateSeries(event))
  if (!hasTime(event)) errors.push(requiredValue('eventTime'))
  const type = textOf(event, 'type')
  if (type !== 'Normal' && type !== 'Warning') errors.push(invalidValue('type', '', `has invalid value: ${type}`))
  return [...errors, ...refuseDeprecated(event)]
}

/** Refuses fields that only the core group has. */
function refuseDeprecated(event: Part): FieldError[] {
  const source = optionalPart(event, 'deprecatedSource')
  const given: Readonly<Record<string, boolean>> = {
    firstTimestamp: typeof event['deprecatedFirstTimestamp'] === 'string',
    lastTimestamp: typeof event['deprecatedLastTimestamp'] === 'string',
    count: Number(event['deprecatedCount'] ?? 0) !== 0,
    source: textOf(source, 'component') !== '' || textOf(source, 'host') !== '',
  }
  return Object.keys(given).flatMap((name) => (given[name] ? [invalidValue(name, '', 'needs to be unset')] : []))
}

function hasTime(event: Part): boolean {
  return typeof event['eventTime'] === 'string'
}

/** An object without a namespace has its events in `default`; those of newer reporters may also be in `kube-system`. */
function validateLegacy(event: Part, words: Words, names: Names): FieldError[] {
  const namespace = textOf(partOf(event, 'metadata'), 'namespace')
  const about = textOf(optionalPart(event, words.object), 'namespace')
  const isNew = hasTime(event)
  const isAtHome = about === '' ? ['default', isNew ? names.systemNamespace : ''].includes(namespace) : isNew || about === namespace
  const errors: FieldError[] = isAtHome ? [] : [invalidValue('involvedObject.namespace', about, 'does not match event.namespace')]
  if (isNew) errors.push(...validateReporter(event, words))
  return [...errors, ...invalidFor('namespace', namespace, checkSubdomain(namespace))]
}

function validateReporter(event: Part, words: Words): FieldError[] {
  const reporter = textOf(event, words.reporter)
  const errors = reporter === '' ? [requiredValue(words.reporterInErrors)] : []
  errors.push(...invalidFor(words.reporterInErrors, reporter, checkQualifiedName(reporter)))
  for (const field of ['reportingInstance', 'action', 'reason']) {
    const text = textOf(event, field)
    if (text === '') errors.push(requiredValue(field))
    if (bytesOf(text) > wordLengthMax) errors.push(invalidValue(field, '', `can have at most ${wordLengthMax} characters`))
  }
  if (bytesOf(textOf(event, words.message)) > messageLengthMax) {
    errors.push(invalidValue('message', '', `can have at most ${messageLengthMax} characters`))
  }
  return errors
}

function validateSeries(event: Part): FieldError[] {
  const series = optionalPart(event, 'series')
  if (series === undefined) return []
  const errors = Number(series['count'] ?? 0) < 2 ? [invalidValue('series.count', '', 'should be at least 2')] : []
  return typeof series['lastObservedTime'] === 'string' ? errors : [...errors, requiredValue('series.lastObservedTime')]
}

/** Immutable fields of the events group → their names in messages. */
const kept: Readonly<Record<string, string>> = {
  regarding: 'involvedObject',
  reason: 'reason',
  note: 'message',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
  type: 'type',
  eventTime: 'eventTime',
  action: 'action',
  related: 'related',
  reportingController: 'reportingController',
  reportingInstance: 'reportingInstance',
}

/** Types of the fields that messages print as Go values. */
const keptTypes: Readonly<Record<string, Node>> = {
  regarding: ref('core/v1.ObjectReference'),
  related: ref('core/v1.ObjectReference'),
  deprecatedSource: ref('core/v1.EventSource'),
  deprecatedFirstTimestamp: time(),
  deprecatedLastTimestamp: time(),
  eventTime: microTime(),
}

/** An absent field in messages: an empty text, except for times, references and the count. */
function zeroOf(field: string): unknown {
  const type = keptTypes[field]
  if (type !== undefined) return type.kind === 'ref' ? null : goValue(type, undefined)
  return field === 'deprecatedCount' ? 0 : ''
}

function validateKept(event: Part, live: Part): FieldError[] {
  return Object.entries(kept).flatMap(([field, name]) => {
    if (isSame(event[field], live[field])) return []
    const type = keptTypes[field]
    const value = event[field] === undefined || type === undefined ? event[field] : goValue(type, event[field])
    return [invalidValue(name, value ?? zeroOf(field), 'field is immutable')]
  })
}
