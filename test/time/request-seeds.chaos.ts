import { chaosSeed } from '../chaos/seed.ts'
import { testRequestSeeds } from './request-seeds.ts'

testRequestSeeds(chaosSeed, 30)
