import { sleep, systemClock } from '@orch/platform'
import { startWriter } from './start-writer.ts'
import { findFaults } from './verify.ts'

const inFlight = 16

/** Starts a writer on a folder, kills it under load and checks the folder. Repeats this a given number of times or until the first fault. */
export async function killAgainAndAgain(options: { directory: string; rounds: number; random: () => number }) {
  const { directory, rounds, random } = options
  const state = new Map<string, number>()
  const seen = new Set<number>()
  const faults: string[] = []
  let after = 1
  let total = 0
  for (let round = 0; round < rounds && faults.length === 0; round += 1) {
    const { acknowledged, faults: ofWriter } = await killedRound({ directory, first: round * 1_000_000, random })
    const found = await findFaults({ directory, acknowledged, refused: [], after, state })
    for (const fault of [...ofWriter, ...found.faults]) faults.push(`round ${round}: ${fault}`)
    for (const { revision } of acknowledged) seen.add(revision)
    total += acknowledged.length
    after = found.revision
  }
  return {
    /** Results by round. */
    faults,
    acknowledged: total,
    /** The number of different acknowledged revisions. */
    revisions: seen.size,
  }
}

/** Kills a writer at a random moment after its first acknowledgement; returns its acknowledgements. */
async function killedRound(options: { directory: string; first: number; random: () => number }) {
  const { directory, first, random } = options
  const writer = startWriter({ directory, first, inFlight })
  await writer.seen('ack', 1 + Math.floor(random() * 300))
  // The kill may come at any moment between two lines.
  await sleep(systemClock, random() * 3)
  writer.child.kill('SIGKILL')
  const { acknowledged, refused, end, errors } = await writer.ended
  const isAsWanted = end === 'SIGKILL' && errors === '' && refused.length === 0
  return { acknowledged, faults: isAsWanted ? [] : [`the writer ended with ${end}, ${refused.length} refused: ${errors}`] }
}
