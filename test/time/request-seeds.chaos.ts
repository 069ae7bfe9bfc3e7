import { chaosSeed, seedsTried } from '../chaos/seed.ts'
import { testRequestSeeds } from './request-seeds.ts'

testRequestSeeds(chaosSeed, seedsTried, 10)
