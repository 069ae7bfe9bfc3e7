import { isJsonObject } from '../../json/member.ts'
import type { Reshape } from '../../kind/reshape.ts'
import type { ApiObject } from '../../meta/object-meta.ts'

const storedName = 'assuredConcurrencyShares'
const newerName = 'nominalConcurrencyShares'

/** Converts a PriorityLevelConfiguration of v1beta3 or v1, in which the field for a level's shares has another name than in the stored version. */
export const nominalShares: Reshape = {
  toStored: (level) => renamed(level, newerName, storedName),
  fromStored: (level) => renamed(level, storedName, newerName),
}

function renamed(level: ApiObject, from: string, to: string): ApiObject {
  const spec = 'spec' in level ? level.spec : undefined
  const limited = isJsonObject(spec) ? spec['limited'] : undefined
  if (!isJsonObject(spec) || !isJsonObject(limited)) return level
  const members = Object.entries(limited).map(([name, value]) => [name === from ? to : name, value])
  const changed = { ...level, spec: { ...spec, limited: Object.fromEntries(members) } }
  return changed
}
