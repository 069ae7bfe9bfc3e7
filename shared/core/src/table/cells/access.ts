import { printAge } from '../age.ts'
import { ageOf, type Cell, conditionOf, type Data, dataOf, has, listOf, nameOf, numberOf, type ReadCells, textOf } from '../cell.ts'
import { none, printPairs, printReference } from '../text.ts'

export const certificateSigningRequestCells: ReadCells = (object) => {
  const spec = dataOf(object, 'spec')
  const duration = has(spec, 'expirationSeconds') ? printAge(Number(numberOf(spec, 'expirationSeconds')) * 1000) : none
  const state = requestStateOf(dataOf(object, 'status'))
  return [nameOf(object), ageOf(object), textOf(spec, 'signerName', none), textOf(spec, 'username'), duration, state]
}

export function clusterTrustBundleCells(object: Data): readonly Cell[] {
  return [nameOf(object), textOf(dataOf(object, 'spec'), 'signerName') || none]
}

export const podCertificateRequestCells: ReadCells = (object) => {
  const spec = dataOf(object, 'spec')
  const states = listOf(dataOf(object, 'status'), 'conditions').map((condition) => textOf(condition, 'type'))
  const state = states.findLast((type) => ['Issued', 'Denied', 'Failed'].includes(type)) ?? 'Pending'
  const texts = ['podName', 'serviceAccountName', 'nodeName', 'signerName'].map((name) => textOf(spec, name))
  return [nameOf(object), ...texts, state, printPairs(dataOf(spec, 'unverifiedUserAnnotations'))]
}

export function bindingCells(object: Data): readonly Cell[] {
  const subjects = listOf(object, 'subjects')
  const named = (kind: string): string =>
    subjects
      .filter((subject) => subject['kind'] === kind)
      .map((subject) => textOf(subject, 'name'))
      .join(', ')
  const accounts = subjects
    .filter(({ kind }) => kind === 'ServiceAccount')
    .map((subject) => `${textOf(subject, 'namespace')}/${textOf(subject, 'name')}`)
  return [nameOf(object), printReference(dataOf(object, 'roleRef')), ageOf(object), named('User'), named('Group'), accounts.join(', ')]
}

function requestStateOf(status: Data): string {
  const is = (type: string): boolean => conditionOf(status, type) !== undefined
  const decision = is('Denied') ? 'Denied' : is('Approved') ? 'Approved' : 'Pending'
  return `${decision}${is('Failed') ? ',Failed' : ''}${textOf(status, 'certificate') === '' ? '' : ',Issued'}`
}
