import { testWorkloadSeeds } from './workload-seeds.ts'

testWorkloadSeeds(1, 5)
