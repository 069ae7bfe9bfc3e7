import fc from 'fast-check'

/** The seed of a run: TEST_SEED, by default 1. */
export const seed = Number(process.env.TEST_SEED ?? 1)

fc.configureGlobal({ seed })

/** fast-check, seeded with the run's seed. */
export { fc }
