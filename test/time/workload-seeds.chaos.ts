import { chaosSeed, seedsTried } from '../chaos/seed.ts'
import { testWorkloadSeeds } from './workload-seeds.ts'

testWorkloadSeeds(chaosSeed, seedsTried)
