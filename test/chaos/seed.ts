import { randomInt } from 'node:crypto'

/** The seed of a chaos run: new each time, or from ORCH_CHAOS_SEED. */
export const chaosSeed = Number(process.env['ORCH_CHAOS_SEED'] ?? randomInt(2 ** 31))

/** The seeds that a determinism test tries. */
export const seedsTried = Number(process.env['ORCH_CHAOS_SEEDS'] ?? 30)
