import { placesOfMembers } from '../json/parse-exactly.ts'
import { unknownFieldText } from './decode.ts'

/** Further ones would not help. */
const problemsMax = 100

/** The reports on a body besides its values. */
export interface FieldProblems {
  /** Paths of fields that the type does not have, in the order of the body. */
  readonly unknown: readonly string[]
  /** Paths of members that are there more than once, in the order of their second places. */
  readonly duplicates: readonly string[]
  /** The JSON text, where there are duplicates; absent: they are reported first. */
  readonly source?: (() => string) | undefined
}

/**
 * The problems in the order of the body, each once: a field that the type does not have is unknown however often
 * it occurs, and so are its contents.
 */
export function fieldProblems({ unknown, duplicates, source }: FieldProblems): string[] {
  const strange = [...new Set(unknown)].slice(0, problemsMax)
  const repeated = duplicates.filter((path) => !strange.some((parent) => isWithin(path, parent)))
  const listed = (): string[] => [...repeated.map(duplicateFieldText), ...strange.map(unknownFieldText)]
  if (strange.length === 0 || repeated.length === 0 || source === undefined) return listed().slice(0, problemsMax)
  const places = placesOfMembers(source(), new Set([...strange, ...repeated]))
  const found = [
    ...strange.map((path) => ({ text: unknownFieldText(path), at: places.get(path)?.[0] ?? 0 })),
    ...repeated.map((path) => ({ text: duplicateFieldText(path), at: places.get(path)?.[1] ?? 0 })),
  ]
  const inOrder = found.sort((left, right) => left.at - right.at)
  return inOrder.slice(0, problemsMax).map(({ text }) => text)
}

/** The text of a repeated member in warnings and strict errors. */
function duplicateFieldText(path: string): string {
  return `duplicate field ${JSON.stringify(path)}`
}

function isWithin(path: string, parent: string): boolean {
  if (!path.startsWith(parent)) return false
  const next = path.charAt(parent.length)
  return next === '' || next === '.' || next === '['
}
