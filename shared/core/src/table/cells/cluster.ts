import { domainLabel, type Names, subdomainLabel } from '../../names.ts'
import { ageOf, type Cell, conditionOf, type Data, dataOf, has, listOf, nameOf, numberOf, type ReadCells, since, textOf } from '../cell.ts'
import { none, printFirst, unknown, unset } from '../text.ts'

const versionsShown = 3

export const namespaceCells: ReadCells = (object) => [nameOf(object), textOf(dataOf(object, 'status'), 'phase'), ageOf(object)]

export const secretCells: ReadCells = (object) => [nameOf(object), textOf(object, 'type'), sizeOf(object, 'data'), ageOf(object)]

export const configMapCells: ReadCells = (object) => [nameOf(object), sizeOf(object, 'data') + sizeOf(object, 'binaryData'), ageOf(object)]

export const serviceAccountCells: ReadCells = (object) => [nameOf(object), listOf(object, 'secrets').length, ageOf(object)]

export const componentStatusCells: ReadCells = (object) => {
  const healthy = conditionOf(object, 'Healthy')
  if (healthy === undefined) return [nameOf(object), 'Unknown', '', '']
  const status = healthy['status'] === 'True' ? 'Healthy' : 'Unhealthy'
  return [nameOf(object), status, textOf(healthy, 'message'), textOf(healthy, 'error')]
}

export const leaseCells: ReadCells = (object) => [nameOf(object), textOf(dataOf(object, 'spec'), 'holderIdentity'), ageOf(object)]

export const leaseCandidateCells: ReadCells = (object) => {
  const spec = dataOf(object, 'spec')
  return [nameOf(object), textOf(spec, 'leaseName'), textOf(spec, 'binaryVersion'), textOf(spec, 'emulationVersion'), ageOf(object)]
}

export const resourceQuotaCells: ReadCells = (object) => {
  const age = ageOf(object)
  return [nameOf(object), age, ...quotaCells(dataOf(object, 'status')), age]
}

export const priorityClassCells: ReadCells = (object) => [
  nameOf(object),
  numberOf(object, 'value'),
  object['globalDefault'] === true,
  ageOf(object),
  textOf(object, 'preemptionPolicy'),
]

export const runtimeClassCells: ReadCells = (object) => [nameOf(object), textOf(object, 'handler'), ageOf(object)]

export const storageVersionCells: ReadCells = (object) => {
  const status = dataOf(object, 'status')
  const versions = listOf(status, 'storageVersions').map((one) => `${textOf(one, 'apiServerID')}=${textOf(one, 'encodingVersion')}`)
  const shown = versions.length === 0 ? unset : printFirst(versions, versionsShown)
  return [nameOf(object), textOf(status, 'commonEncodingVersion', unset), shown, ageOf(object)]
}

export const apiServiceCells: ReadCells = (object) => {
  const service = dataOf(dataOf(object, 'spec'), 'service')
  const isLocal = !has(dataOf(object, 'spec'), 'service')
  const place = isLocal ? 'Local' : `${textOf(service, 'namespace')}/${textOf(service, 'name')}`
  return [nameOf(object), place, availableOf(dataOf(object, 'status')), ageOf(object)]
}

function sizeOf(object: Data, field: string): number {
  return Object.keys(dataOf(object, field)).length
}

export function nodeCells(object: Data, names: Names): readonly Cell[] {
  const status = dataOf(object, 'status')
  const info = dataOf(status, 'nodeInfo')
  const kernel = textOf(info, 'kernelVersion', unknown)
  const architecture = textOf(info, 'architecture')
  return [
    nameOf(object),
    nodeStatusOf(dataOf(object, 'spec'), status),
    rolesOf(dataOf(dataOf(object, 'metadata'), 'labels'), names),
    ageOf(object),
    textOf(info, 'kubeletVersion'),
    addressOf(status, 'InternalIP'),
    addressOf(status, 'ExternalIP'),
    textOf(info, 'osImage', unknown),
    kernel,
    architecture === '' ? kernel : `${kernel} (${architecture})`,
    textOf(info, 'containerRuntimeVersion', unknown),
  ]
}

function nodeStatusOf(spec: Data, status: Data): string {
  const ready = conditionOf(status, 'Ready')
  const text = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady'
  return spec['unschedulable'] === true ? `${text},SchedulingDisabled` : text
}

function rolesOf(labels: Data, names: Names): string {
  const prefix = subdomainLabel(names, 'node-role', '')
  const roleLabel = domainLabel(names, 'role')
  const roles = new Set<string>()
  for (const [label, value] of Object.entries(labels)) {
    if (label.startsWith(prefix) && label.length > prefix.length) roles.add(label.slice(prefix.length))
    else if (label === roleLabel && value !== '') roles.add(String(value))
  }
  return [...roles].sort().join(',') || none
}

function addressOf(status: Data, type: string): string {
  const found = listOf(status, 'addresses').find((address) => address['type'] === type)
  return found === undefined ? none : textOf(found, 'address')
}

export function eventCells(object: Data): readonly Cell[] {
  const involved = dataOf(object, 'involvedObject')
  const series = dataOf(object, 'series')
  return [
    lastSeen(object),
    textOf(object, 'type'),
    textOf(object, 'reason'),
    involvedText(involved),
    textOf(involved, 'fieldPath'),
    sourceText(object),
    textOf(object, 'message').trim(),
    firstSeen(object),
    has(object, 'series') ? numberOf(series, 'count') : numberOf(object, 'count') || 1,
    nameOf(object),
  ]
}

function firstSeen(object: Data): Cell {
  return since(has(object, 'firstTimestamp') ? object['firstTimestamp'] : object['eventTime'])
}

function lastSeen(object: Data): Cell {
  if (has(object, 'series')) return since(dataOf(object, 'series')['lastObservedTime'])
  return has(object, 'lastTimestamp') ? since(object['lastTimestamp']) : firstSeen(object)
}

function involvedText(involved: Data): string {
  const kind = textOf(involved, 'kind').toLowerCase()
  const name = textOf(involved, 'name')
  return name === '' ? kind : `${kind}/${name}`
}

function sourceText(object: Data): string {
  const source = dataOf(object, 'source')
  const component = textOf(source, 'component', textOf(object, 'reportingComponent'))
  const host = textOf(source, 'host', textOf(object, 'reportingInstance'))
  return host === '' ? component : `${component}, ${host}`
}

/** The usage of a quota, with limits separate from requests. */
function quotaCells(status: Data): readonly [requests: string, limits: string] {
  const hard = dataOf(status, 'hard')
  const used = dataOf(status, 'used')
  const isLimit = (key: string): boolean => key.startsWith('limits.')
  const print = (keys: readonly string[]): string => keys.map((key) => `${key}: ${textOf(used, key, '0')}/${textOf(hard, key)}`).join(', ')
  const keys = Object.keys(hard).sort()
  return [print(keys.filter((key) => !isLimit(key))), print(keys.filter(isLimit))]
}

function availableOf(status: Data): string {
  const available = conditionOf(status, 'Available')
  if (available === undefined) return 'Unknown'
  const text = textOf(available, 'status')
  const reason = textOf(available, 'reason')
  return text === 'True' || reason === '' ? text : `${text} (${reason})`
}
