import {
  ageOf,
  type Cell,
  conditionOf,
  createdAtOf,
  type Data,
  dataOf,
  has,
  listOf,
  nameOf,
  numberOf,
  numberOr,
  type ReadCells,
  textOf,
  textsOf,
} from '../cell.ts'
import { none } from '../text.ts'

/** The cells of a CustomResourceDefinition. */
export const definitionCells: ReadCells = (object) => {
  const spec = dataOf(object, 'spec')
  const names = dataOf(spec, 'names')
  const served = listOf(spec, 'versions').filter((version) => version['served'] === true)
  const versions = served.map((version) => `${textOf(version, 'name')}${version['storage'] === true ? '(storage)' : ''}`).sort()
  const established = conditionOf(dataOf(object, 'status'), 'Established')?.['status'] === 'True'
  return [
    nameOf(object),
    textOf(spec, 'scope'),
    versions.join(','),
    createdAtOf(object),
    textOf(spec, 'group'),
    textOf(names, 'kind'),
    textsOf(names, 'shortNames').join(','),
    established,
  ]
}

export const webhookCells: ReadCells = (object) => [nameOf(object), listOf(object, 'webhooks').length, ageOf(object)]

/** The cells of a ValidatingAdmissionPolicy. */
export const validatingPolicyCells: ReadCells = (object) => {
  const spec = dataOf(object, 'spec')
  const kind = dataOf(spec, 'paramKind')
  const parameters = !has(spec, 'paramKind') ? unset : `${textOf(kind, 'apiVersion')}/${textOf(kind, 'kind')}`
  return [nameOf(object), listOf(spec, 'validations').length, parameters, ageOf(object)]
}

/** The cells of a MutatingAdmissionPolicy. */
export const mutatingPolicyCells: ReadCells = (object) => {
  const spec = dataOf(object, 'spec')
  const kind = dataOf(spec, 'paramKind')
  const parameters = !has(spec, 'paramKind') ? unset : `${textOf(kind, 'apiVersion')}/${textOf(kind, 'kind')}`
  return [nameOf(object), listOf(spec, 'mutations').length, parameters, ageOf(object)]
}

export const policyBindingCells: ReadCells = (object) => {
  const spec = dataOf(object, 'spec')
  const parameters = has(spec, 'paramRef') ? paramText(dataOf(spec, 'paramRef')) : unset
  return [nameOf(object), textOf(spec, 'policyName'), parameters, ageOf(object)]
}

const unset = '<unset>'

function paramText(reference: Data): string {
  const [namespace, name] = [textOf(reference, 'namespace'), textOf(reference, 'name')]
  if (has(reference, 'selector')) return selectorText(dataOf(reference, 'selector'))
  return namespace === '' ? `*/${name}` : `${namespace}/${name}`
}

/** A selector in Go's format. */
function selectorText(selector: Data): string {
  const labels = Object.entries(dataOf(selector, 'matchLabels')).sort(([one], [other]) => (one < other ? -1 : 1))
  const terms = listOf(selector, 'matchExpressions').map((term) => {
    const [key, operator, values] = [textOf(term, 'key'), textOf(term, 'operator'), textsOf(term, 'values').join(' ')]
    return `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values}],},`
  })
  const pairs = labels.map(([name, value]) => `${name}: ${value},`).join('')
  return `&LabelSelector{MatchLabels:map[string]string{${pairs}},MatchExpressions:[]LabelSelectorRequirement{${terms.join('')}},}`
}

export const flowSchemaCells: ReadCells = (object) => {
  const spec = dataOf(object, 'spec')
  const dangling = conditionOf(dataOf(object, 'status'), 'Dangling')
  return [
    nameOf(object),
    textOf(dataOf(spec, 'priorityLevelConfiguration'), 'name'),
    numberOf(spec, 'matchingPrecedence'),
    textOf(dataOf(spec, 'distinguisherMethod'), 'type', none),
    ageOf(object),
    dangling === undefined ? '?' : textOf(dangling, 'status'),
  ]
}

export const priorityLevelConfigurationCells: ReadCells = (object) => {
  const spec = dataOf(object, 'spec')
  return [nameOf(object), textOf(spec, 'type'), ...limitCells(dataOf(spec, 'limited')), ageOf(object)]
}

function limitCells(limited: Data): readonly Cell[] {
  const queuing = dataOf(dataOf(limited, 'limitResponse'), 'queuing')
  const shares = numberOr(limited, 'assuredConcurrencyShares', none)
  return [
    ...[shares, shares],
    numberOr(queuing, 'queues', none),
    numberOr(queuing, 'handSize', none),
    numberOr(queuing, 'queueLengthLimit', none),
  ]
}
