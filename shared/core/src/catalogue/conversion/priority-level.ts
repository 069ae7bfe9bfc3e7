import type { Reshape } from '../../kind/reshape.ts'
import { changedAt, renamed } from './parts.ts'

const storedName = 'assuredConcurrencyShares'
const newerName = 'nominalConcurrencyShares'
const place = ['spec', 'limited']

/** Converts a PriorityLevelConfiguration of v1beta3 or v1, in which the field for a level's shares has another name than in the stored version. */
export const nominalShares: Reshape = {
  toStored: (level) => changedAt(level, place, (limited) => renamed(limited, new Map([[newerName, storedName]]))),
  fromStored: (level) => changedAt(level, place, (limited) => renamed(limited, new Map([[storedName, newerName]]))),
}
