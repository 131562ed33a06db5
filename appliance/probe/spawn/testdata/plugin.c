/* The cheapest plugin there is: what the benchmarks start. */
#include <stdio.h>

int main(void)
{
	puts("OK - x | a=1;2;3;0;10");
	return 0;
}
