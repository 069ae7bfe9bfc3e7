import { testRequestSeeds } from './request-seeds.ts'

testRequestSeeds(1, 10)
