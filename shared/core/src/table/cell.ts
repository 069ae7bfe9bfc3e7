import { hasMembers } from '../json/member.ts'
import { type Names, subdomainLabel } from '../names.ts'
import { printAge, unknownAge } from './age.ts'

/** The contents of a cell. A text that depends on the current time is a function. */
export type Cell = string | number | bigint | boolean | null | ((nowMs: number) => string)

/** A part of a parsed object, of unknown form. */
export type Data = Readonly<Record<string, unknown>>

/** Returns the cells of an object in the order of its kind's columns. Any field may be absent: a bookmark has almost none. */
export type ReadCells = (object: Data, names: Names) => readonly Cell[]

const noData: Data = Object.freeze({})
const noList: readonly Data[] = Object.freeze([])

/** The object in a field; empty if absent. */
export function dataOf(data: Data, field: string): Data {
  const value = data[field]
  return hasMembers(value) ? value : noData
}

/** True if a field has a value. */
export function has(data: Data, field: string): boolean {
  return data[field] !== undefined && data[field] !== null
}

/** The objects in a list; empty if absent. */
export function listOf(data: Data, field: string): readonly Data[] {
  const value = data[field]
  return Array.isArray(value) ? value : noList
}

/** The texts in a list; empty if absent. */
export function textsOf(data: Data, field: string): readonly string[] {
  const value = data[field]
  return Array.isArray(value) ? value : []
}

/** The text of a field; `otherwise` if absent. */
export function textOf(data: Data, field: string, otherwise = ''): string {
  const value = data[field]
  return value === undefined || value === null || value === '' ? otherwise : String(value)
}

/** The number of a field; 0 if absent. */
export function numberOf(data: Data, field: string): number | bigint {
  const value = data[field]
  return typeof value === 'number' || typeof value === 'bigint' ? value : 0
}

/** Like `numberOf`, for small numbers used in arithmetic. */
export function countOf(data: Data, field: string): number {
  return Number(numberOf(data, field))
}

/** The number of a field; `otherwise` if absent. */
export function numberOr(data: Data, field: string, otherwise: string): number | bigint | string {
  return has(data, field) ? numberOf(data, field) : otherwise
}

export function nameOf(object: Data): string {
  return textOf(dataOf(object, 'metadata'), 'name')
}

export function ageOf(object: Data): Cell {
  return since(dataOf(object, 'metadata')['creationTimestamp'])
}

/** The time of the creation of an object, as an RFC 3339 text. */
export function createdAtOf(object: Data): Cell {
  const createdAt = dataOf(object, 'metadata')['creationTimestamp']
  return typeof createdAt === 'string' ? createdAt : null
}

/** The age since a time. */
export function since(time: unknown): Cell {
  const startMs = momentOf(time)
  return startMs === undefined ? unknownAge : (nowMs) => printAge(nowMs - startMs)
}

/** Parses an object's time to milliseconds. */
export function momentOf(time: unknown): number | undefined {
  if (typeof time !== 'string') return undefined
  const milliseconds = Date.parse(time)
  return Number.isNaN(milliseconds) ? undefined : milliseconds
}

/** True if the object is being deleted. */
export function isTerminating(object: Data): boolean {
  return has(dataOf(object, 'metadata'), 'deletionTimestamp')
}

/** The condition of a type in an object's status. */
export function conditionOf(object: Data, type: string): Data | undefined {
  return listOf(object, 'conditions').find((condition) => condition['type'] === type)
}

/** The name of a class, with a mark if an annotation of one of these subdomains makes it the default. */
export function classNameOf(object: Data, names: Names, subdomains: readonly string[]): string {
  const annotations = dataOf(dataOf(object, 'metadata'), 'annotations')
  const isDefault = subdomains.some((subdomain) => annotations[subdomainLabel(names, subdomain, 'is-default-class')] === 'true')
  return isDefault ? `${nameOf(object)} (default)` : nameOf(object)
}
