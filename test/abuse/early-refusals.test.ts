import { testEarlyRefusals } from './early-refusals.ts'

testEarlyRefusals(5)
