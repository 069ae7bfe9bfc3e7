import { ageOf, dataOf, has, isTerminating, listOf, nameOf, type ReadCells, since, textOf } from '../cell.ts'

/** The cells of a DeviceClass, and of a ResourceClaimTemplate. */
export const nameAndAgeCells: ReadCells = (object) => [nameOf(object), ageOf(object)]

export const resourceClaimCells: ReadCells = (object) => {
  const status = dataOf(object, 'status')
  const isAllocated = has(status, 'allocation')
  const isDeleted = isTerminating(object)
  const states = [
    ...(isDeleted ? ['deleted'] : []),
    ...(isAllocated ? ['allocated'] : isDeleted ? [] : ['pending']),
    ...(isAllocated && listOf(status, 'reservedFor').length > 0 ? ['reserved'] : []),
  ]
  return [nameOf(object), states.join(','), ageOf(object)]
}

export const resourceSliceCells: ReadCells = (object) => {
  const spec = dataOf(object, 'spec')
  return [nameOf(object), textOf(spec, 'nodeName'), textOf(spec, 'driver'), textOf(dataOf(spec, 'pool'), 'name'), ageOf(object)]
}

export const deviceTaintRuleCells: ReadCells = (object) => {
  const taint = dataOf(dataOf(object, 'spec'), 'taint')
  const texts = ['key', 'value', 'effect'].map((name) => textOf(taint, name))
  return [nameOf(object), ...texts, since(taint['timeAdded']), ageOf(object)]
}
