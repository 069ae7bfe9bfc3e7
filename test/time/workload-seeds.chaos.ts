import { chaosSeed } from '../chaos/seed.ts'
import { testWorkloadSeeds } from './workload-seeds.ts'

testWorkloadSeeds(chaosSeed, 30)
