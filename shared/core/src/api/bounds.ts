import type { NumberFacets } from '../description/node.ts'

/** Bounds of numbers that several types share. */
export const portNumber: NumberFacets = { min: 1, max: 65_535 }
/** Ids of users and groups on a node. */
export const identity: NumberFacets = { min: 0, max: 2 ** 31 - 1 }
export const weight: NumberFacets = { min: 1, max: 100, detail: 'must be in the range 1-100' }
export const aboveZero: NumberFacets = { min: 1, detail: 'must be greater than zero' }
export const fileMode: NumberFacets = { min: 0, max: 0o777, detail: 'must be a number between 0 and 0777 (octal), both inclusive' }
export const directoryMode: NumberFacets = {
  min: 0,
  max: 0o1777,
  detail: 'must be a number between 0 and 01777 (octal), both inclusive',
}
export const partition: NumberFacets = { min: 0, max: 255, detail: 'must be between 1 and 255, inclusive' }
/** A port, or 0 for no port. */
export const optionalPort: NumberFacets = { min: 0, max: 65_535, detail: 'must be between 1 and 65535, inclusive' }
