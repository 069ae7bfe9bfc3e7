import { randomInt } from 'node:crypto'

/** What a chaos run draws from: another one each time, or that of ORCH_CHAOS_SEED. */
export const chaosSeed = Number(process.env['ORCH_CHAOS_SEED'] ?? randomInt(2 ** 31))
