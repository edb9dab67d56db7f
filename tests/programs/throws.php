<?php
// Throws an exception and catches it itself.

class OrderError extends RuntimeException
{
}

foreach ([1, 2, 3] as $order) {
    try {
        if ($order > 2) {
            throw new OrderError('order 3 has no items'); // @raise
        }
    } catch (OrderError $error) {
        echo "caught: {$error->getMessage()}\n"; // @catch
    }
}
