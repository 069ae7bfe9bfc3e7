import type { Group } from '@orch/core/catalogue'
import { isEndOfRun, type JoinedList, type Run, runsOf } from '../representations/runs.ts'
import { allOf, keptOnce } from './made-once.ts'
import type { OpenApiParts } from './openapi-parts.ts'
import { type Added2, type Hashed, hashOfHashes, type Piece2, type PieceMaker2, pieceMaker2 } from './openapi2-pieces.ts'

/** The additions of several groups to OpenAPI 2. */
export interface Joined2 extends Hashed {
  readonly pieces: readonly Piece2[]
  readonly texts: () => Lists2 | Promise<Lists2>
  readonly encoded: () => Lists2 | Promise<Lists2>
}

/** Their additions to the two maps, without empty ones. */
interface Lists2 {
  readonly paths: readonly Uint8Array[]
  readonly definitions: readonly Uint8Array[]
}

interface Run2 extends Run<Group> {
  readonly joined: () => Joined2 | Promise<Joined2>
}

/** The last list of groups with its runs, by the catalogue of the built-in kinds. */
const newest = new WeakMap<object, JoinedList<Group, Run2>>()
const none: JoinedList<Group, Run2> = { items: [], runs: [] }

/** The additions of groups in runs: a change of one group remakes one run. */
export function joinedGroups2(parts: OpenApiParts, groups: readonly Group[]): readonly Run2[] {
  const { builtInCatalogue } = parts
  const join = (items: readonly Group[]) => ({ items, joined: joinedOf(items.map((group) => pieceMaker2(parts, group))) })
  const runs = runsOf(groups, newest.get(builtInCatalogue) ?? none, { isEnd: ({ name }) => isEndOfRun(name), join })
  newest.set(builtInCatalogue, { items: groups, runs })
  return runs
}

/** Refers to the groups of its run only. */
function joinedOf(makers: readonly PieceMaker2[]): Run2['joined'] {
  return keptOnce(async () => joinedPieces2(await allOf(makers.map((make) => make()))))
}

/** The additions of these pieces as one. */
export function joinedPieces2(pieces: readonly Piece2[]): Joined2 {
  return {
    pieces,
    hash: hashOfHashes(pieces),
    texts: keptOnce(async () => listed(await allOf(pieces.map((piece) => piece.texts())))),
    encoded: keptOnce(async () => listed(await allOf(pieces.map((piece) => piece.encoded())))),
  }
}

function listed(added: readonly Added2[]): Lists2 {
  const hasSome = ({ length }: Uint8Array) => length > 0
  return {
    paths: added.map(({ paths }) => paths).filter(hasSome),
    definitions: added.map(({ definitions }) => definitions).filter(hasSome),
  }
}
