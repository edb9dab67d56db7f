with Ada.Text_IO; use Ada.Text_IO;
procedure Refused is
   type Color is (Red, Green, Blue);
   type Row is array (1 .. 3) of Integer;
   Too_Much : exception;
   Total : Natural := 0;
   Shade : Color := Red;
   Prices : Row := (10, 20, 30);
   procedure Add (Amount : Natural) is
   begin
      Total := Total + Amount; --  @adds
   end Add;
   procedure Check (Value : Natural) is
   begin
      if Value > 50 then
         raise Too_Much with "too much"; --  @raises
      end if;
   end Check;
begin
   for Round in Prices'Range loop
      Add (Prices (Round));
   end loop;
   begin
      Check (100);
   exception
      when Too_Much => Shade := Blue; --  @shades
   end;
   Prices (2) := 21; --  @prices
   Put_Line (Natural'Image (Total)); --  @checks
   Check (Total);
end Refused;
