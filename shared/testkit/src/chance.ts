import fc from 'fast-check'

/** The seed of a run: 1, unless TEST_SEED names another one. */
export const seed = Number(process.env.TEST_SEED ?? 1)

fc.configureGlobal({ seed })

/** fast-check, which draws from the run's seed. */
export { fc }
